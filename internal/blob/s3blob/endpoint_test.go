package s3blob

import (
	"context"
	"errors"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	smithyendpoints "github.com/aws/smithy-go/endpoints"
)

// counted counts how often the rules are asked, which fail as long as told.
type counted struct {
	s3.EndpointResolverV2
	asked  int
	failed error
}

func (c *counted) ResolveEndpoint(ctx context.Context, p s3.EndpointParameters) (smithyendpoints.Endpoint, error) {
	c.asked++
	if c.failed != nil {
		return smithyendpoints.Endpoint{}, c.failed
	}
	return c.EndpointResolverV2.ResolveEndpoint(ctx, p)
}

func TestEndpoints_RemembersThoseOfEachRegion(t *testing.T) {
	rules := &counted{EndpointResolverV2: s3.NewDefaultEndpointResolverV2(), failed: errors.New("no rules")}
	e := &endpoints{rules: rules}
	ask := func(region string) (string, error) {
		found, err := e.ResolveEndpoint(t.Context(), s3.EndpointParameters{Bucket: aws.String("bucket"), Region: aws.String(region)})
		return found.URI.String(), err
	}
	if _, err := ask("eu-west-1"); !errors.Is(err, rules.failed) {
		t.Errorf("the rules' error became %v", err)
	}
	rules.failed = nil
	for range 3 {
		for _, region := range []string{"eu-west-1", "us-east-2"} {
			if got, err := ask(region); err != nil || got != "https://bucket.s3."+region+".amazonaws.com" {
				t.Errorf("%s: %s, %v", region, got, err)
			}
		}
	}
	if rules.asked != 3 { // once in vain
		t.Errorf("the rules were asked %d times, want 3", rules.asked)
	}
}
