// Package gcstest is a Google Cloud Storage service for tests, on loopback, over memblob: the reading half of the JSON API, in pages, with ranges,
// generations, tokens and decompressive transcoding, and on script whatever goes wrong.
//
// It does what bit readers of the service: an object stored with Content-Encoding gzip is decompressed for whoever does not accept gzip, and then has
// neither length nor ranges; startOffset is inclusive; a missing grant answers 401 without a token and 403 with one.
package gcstest
