package s3blob

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

func TestSpan_BelievesOnlyTheRangeThatWasAskedFor(t *testing.T) {
	for _, c := range []struct {
		off, n   int64
		content  string
		length   int64
		believed bool
	}{
		{100, 50, "bytes 100-149/1000", 50, true},
		{100, -1, "bytes 100-999/1000", 900, true},
		{990, 50, "bytes 990-999/1000", 10, true},
		{100, 50, "bytes 0-49/1000", 50, false},
		{100, 50, "bytes 100-148/1000", 49, false},
		{100, 50, "bytes 100-199/1000", 100, false},
		{100, 50, "bytes 100-149/*", 50, false},
		{100, 50, "", 1000, false},
	} {
		out := &s3.GetObjectOutput{ContentRange: &c.content, ContentLength: &c.length}
		size, length, err := span(out, true, c.off, c.n)
		if believed := err == nil; believed != c.believed || believed && (size != 1000 || length != c.length) {
			t.Errorf("%+v: %d, %d, %v", c, size, length, err)
		}
	}
	if size, length, err := span(&s3.GetObjectOutput{ContentLength: aws.Int64(7)}, false, 0, -1); size != 7 || length != 7 || err != nil {
		t.Errorf("whole: %d, %d, %v", size, length, err)
	}
	if _, _, err := span(&s3.GetObjectOutput{}, false, 0, -1); err == nil {
		t.Error("an answer of unknown length was believed")
	}
}
