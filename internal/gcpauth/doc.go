// Package gcpauth is how a connector logs in to Google Cloud: the choice in its config, and credentials made of it.
//
// Credentials is the section of a config; FromJSON reads the older form, a key as an object or as a string. Load fetches a first token, so that a key that
// does not work is told as such and not as the first request's failure; the error is a *protocol.Problem.
package gcpauth
