// Package awsauth is how a connector logs in to AWS: the choice in its config, and the SDK's configuration made of it.
//
// Credentials is the section of a config. Load turns it into an aws.Config with an HTTP client that keeps bodies as they are stored; a choice that cannot
// work is a *protocol.Problem of kind config. Of the environment only AWSDefault and AWSIAM take credentials: explicit keys, and anonymous access, mean
// the same on every machine.
package awsauth
