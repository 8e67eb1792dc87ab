// Package memblob is a bucket in memory for tests: mtimes, versions, the clock and faults are on script.
//
//	b := memblob.New("bucket")
//	b.Put(memblob.Entry{Key: "a.csv", Data: []byte("x\n1\n"), Modified: then})
//	b.Fault = func(c memblob.Call) memblob.Fault { … }
//
// A fault's function runs without the bucket's lock: it may put and delete, which is how objects change between a listing and a read.
package memblob
