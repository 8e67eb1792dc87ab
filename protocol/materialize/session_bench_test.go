package materialize

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"testing"

	"github.com/sirupsen/logrus"

	"github.com/estuary/connectors/internal/command"
)

// funnel is a transactor that lets everything through, so that what is left is the session.
type funnel struct{ documents int }

func (s *funnel) Load(_ context.Context, keys *KeyIter, emit func(int, []byte) error) error {
	doc := []byte(`{"id":1,"customer":"Acme","total":12.5}`)
	for keys.Next() {
		if err := emit(keys.Key().Binding, doc); err != nil {
			return err
		}
	}
	return keys.Err()
}

func (s *funnel) Store(_ context.Context, docs *DocIter) error {
	for docs.Next() {
		s.documents++
	}
	return docs.Err()
}
func (s *funnel) Commit(context.Context, []byte) ([]byte, error)        { return nil, nil }
func (s *funnel) Acknowledge(context.Context, [][]byte) ([]byte, error) { return nil, nil }
func (s *funnel) Close() error                                          { return nil }

// BenchmarkSession is what a document costs between stdin and the transactor, and a key between stdin and stdout.
func BenchmarkSession(b *testing.B) {
	logrus.SetOutput(io.Discard)
	for name, line := range map[string]string{
		"store": `{"store":{"key":[%d],"values":["Acme Incorporated",12345.5],"doc":{"id":1,"customer":"Acme Incorporated","total":12345.5,"note":"the quick brown fox jumps over the lazy dog","placed_at":"2026-11-29T12:34:56.123456Z"}}}` + "\n",
		"load":  `{"load":{"key":[%d]}}` + "\n",
	} {
		b.Run(name, func(b *testing.B) {
			const n = 100_000
			var all bytes.Buffer
			all.WriteString(`{"acknowledge":{}}` + "\n")
			if name == "store" {
				all.WriteString(`{"flush":{}}` + "\n")
			}
			for i := range n {
				fmt.Fprintf(&all, line, i)
			}
			if name == "load" {
				all.WriteString(`{"flush":{}}` + "\n")
			}
			all.WriteString(`{"startCommit":{}}` + "\n")
			b.SetBytes(int64(all.Len()))
			b.ReportAllocs()
			for b.Loop() {
				s := &session{
					inv: &invocation{Process: &command.Process{}}, bs: []Binding{{}}, in: newInput(bytes.NewReader(all.Bytes())), out: newOutput(io.Discard),
					backlog: backlog{limit: backlogMemory}, asked: make([]int, 1), done: make([]bool, 1),
				}
				s.bs[0].Fields.Keys, s.bs[0].Fields.Values, s.bs[0].Fields.Document = []string{"id"}, []string{"customer", "total"}, "flow_document"
				t := &funnel{}
				s.tr, s.loader = t, t
				if err := s.transaction(b.Context()); err != nil {
					b.Fatal(err)
				}
				if name == "store" && t.documents != n {
					b.Fatalf("%d documents came, want %d", t.documents, n)
				}
				if err := s.out.close(0); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/line")
		})
	}
}
