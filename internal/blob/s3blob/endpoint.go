package s3blob

import (
	"context"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/auth"
	smithyendpoints "github.com/aws/smithy-go/endpoints"
)

// endpoints remembers where requests go. The SDK asks its rules twice for each request, a sixth of what getting a small object takes, and for one bucket and
// one set of options they differ by region alone.
type endpoints struct {
	rules s3.EndpointResolverV2
	known sync.Map // of smithyendpoints.Endpoint, by region
}

// ResolveEndpoint implements s3.EndpointResolverV2.
func (e *endpoints) ResolveEndpoint(ctx context.Context, p s3.EndpointParameters) (smithyendpoints.Endpoint, error) {
	region := aws.ToString(p.Region)
	if found, ok := e.known.Load(region); ok {
		return copied(found.(smithyendpoints.Endpoint)), nil //nolint:forcetypeassert // see known
	}
	found, err := e.rules.ResolveEndpoint(ctx, p)
	if err == nil {
		e.known.Store(region, copied(found))
	}
	return found, err
}

// copied has properties of its own: for each request the SDK writes into the ways to sign that it finds in them, and requests run at the same time.
func copied(e smithyendpoints.Endpoint) smithyendpoints.Endpoint {
	given := e.Properties
	e.Properties = smithy.Properties{}
	e.Properties.SetAll(&given)
	if options, ok := auth.GetAuthOptions(&given); ok {
		own := make([]*auth.Option, len(options))
		for i, o := range options {
			own[i] = &auth.Option{SchemeID: o.SchemeID}
			own[i].IdentityProperties.SetAll(&o.IdentityProperties)
			own[i].SignerProperties.SetAll(&o.SignerProperties)
		}
		auth.SetAuthOptions(&e.Properties, own)
	}
	return e
}
