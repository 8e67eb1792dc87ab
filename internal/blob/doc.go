// Package blob is a bucket of objects as those who read it need it: listed in the order of key bytes, opened at a byte, always in one pinned version.
//
//	s3blob     Amazon S3 and what speaks its protocol
//	gcsblob    Google Cloud Storage
//	fileblob   a local directory
//	memblob    memory, with mtimes, versions and faults on script, for tests
//
// All pass the suite in blobtest. A bucket decides nothing about what is read, and keeps nothing between two calls: the sweep over a bucket is
// internal/filesource. Bytes come as they are stored; no bucket decompresses or transcodes.
//
// Read bucket.go first; errors.go says what a caller can tell apart, body.go how a body that broke off goes on, check.go what `check` asks a bucket.
package blob
