// Package s3test is an S3 service for tests, on loopback, over memblob: listings in pages, ranges, If-Match, restores, signatures, and on script whatever
// goes wrong.
//
//	mem := memblob.New("bucket")
//	mem.Versions = memblob.MD5
//	s3 := s3test.Start(mem)
//	defer s3.Close()
//	s3.Script = func(r s3test.Request) s3test.Answer { … }
//
// It refuses what S3 refuses and passes over what S3 passes over: unsigned requests and wrong signatures once Secrets are set, requests for another region,
// ranges past the end.
package s3test
