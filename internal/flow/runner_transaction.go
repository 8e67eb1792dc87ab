package flow

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/estuary/connectors/internal/rawjson"
)

// The requests of a transaction. Those of each document are put together by hand: keys, values and documents are JSON already.

// AppendLoad appends the request to load a key.
func AppendLoad(dst []byte, binding int, key [][]byte) []byte {
	dst = append(dst, `{"load":{`...)
	if binding != 0 {
		dst = append(strconv.AppendInt(append(dst, `"binding":`...), int64(binding), 10), ',')
	}
	return append(appendArray(append(dst, `"key":`...), key), "}}\n"...)
}

// AppendStore appends the request to store a document. A value that is nil is written as null; doc nil: the root document is not selected. lengths: the sink
// asked to be told where keys, values and document end.
func AppendStore(dst []byte, binding int, key, values [][]byte, doc []byte, exists, deleted, lengths bool) []byte {
	dst = append(dst, `{"store":{`...)
	if lengths {
		dst = appendLengths(append(dst, `"lengths":"`...), key, values, doc)
	}
	if binding != 0 {
		dst = append(strconv.AppendInt(append(dst, `"binding":`...), int64(binding), 10), ',')
	}
	dst = appendArray(append(dst, `"key":`...), key)
	dst = appendArray(append(dst, `,"values":`...), values)
	if doc != nil {
		dst = append(append(dst, `,"doc":`...), doc...)
	}
	if exists {
		dst = append(dst, `,"exists":true`...)
	}
	if deleted {
		dst = append(dst, `,"delete":true`...)
	}
	return append(dst, "}}\n"...)
}

func appendLengths(dst []byte, key, values [][]byte, doc []byte) []byte {
	const closing = `",`
	before, size := len(dst), rawjson.LengthBytes*(len(key)+len(values)+1)+len(closing)
	dst = slices.Grow(dst, size)[:before+size]
	list := dst[before:]
	for _, values := range [...][][]byte{key, values} {
		for _, v := range values {
			n := len(v)
			if v == nil {
				n = len("null")
			}
			rawjson.PutLength(list, n)
			list = list[rawjson.LengthBytes:]
		}
	}
	if doc != nil {
		rawjson.PutLength(list, len(doc))
		list = list[rawjson.LengthBytes:]
	}
	return dst[:len(dst)-len(list)+copy(list, closing)]
}

func appendArray(dst []byte, values [][]byte) []byte {
	dst = append(dst, '[')
	for i, v := range values {
		if i > 0 {
			dst = append(dst, ',')
		}
		if v == nil {
			dst = append(dst, "null"...)
		} else {
			dst = append(dst, v...)
		}
	}
	return append(dst, ']')
}

// FlushRequest ends the loads of a transaction, newline included.
const FlushRequest = `{"flush":{}}` + "\n"

// AppendStartCommit appends the end of a transaction. The checkpoint goes out byte for byte.
func AppendStartCommit(dst []byte, checkpoint json.RawMessage) []byte {
	return append(append(append(dst, `{"startCommit":{"runtimeCheckpoint":`...), checkpoint...), "}}\n"...)
}

// AppendSinkAcknowledge appends the word that a transaction is durable. patches are those of all shards in it; nil: none.
func AppendSinkAcknowledge(dst []byte, patches []json.RawMessage) []byte {
	if len(patches) == 0 {
		return append(dst, `{"acknowledge":{}}`+"\n"...)
	}
	return appendLine(dst, "acknowledge", struct {
		Patches []json.RawMessage `json:"statePatches"`
	}{patches})
}
