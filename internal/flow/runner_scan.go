package flow

import (
	"bytes"

	"github.com/estuary/connectors/internal/rawjson"
)

var (
	capturedPrefix = []byte(`{"captured":{`)
	loadedPrefix   = []byte(`{"loaded":{`)
	bindingMember  = []byte(`"binding":`)
	docMember      = []byte(`"doc":`)
	closing        = []byte("}}")
	lengthsOpening = []byte(`,"lengths":"`)
	lengthsClosing = []byte(`"}}`)
)

// ScanCaptured finds binding and document of a captured line, without its newline, and does not look into the document: whoever reads that has to check
// it. lengths are those of the document's members; nil: not told. Not ok: the line is something else, or written in an unusual way, and
// DecodeCaptureResponse reads it.
func ScanCaptured(line []byte) (binding int, doc, lengths []byte, ok bool) {
	if rest, told := bytes.CutSuffix(line, lengthsClosing); told {
		i := bytes.LastIndexByte(rest, '"') + 1
		if before, told := bytes.CutSuffix(rest[:i], lengthsOpening); told {
			if binding, doc, ok = scanDocument(before, closing[:0], capturedPrefix); ok {
				return binding, doc, rest[i:], true
			}
		}
	}
	binding, doc, ok = scanDocument(line, closing, capturedPrefix)
	return binding, doc, nil, ok
}

// ScanLoaded does the same for a loaded line.
func ScanLoaded(line []byte) (binding int, doc []byte, ok bool) {
	return scanDocument(line, closing, loadedPrefix)
}

// scanDocument reads {"name":{"binding":1,"doc":…, up to closing; the binding may be missing and is 0 then.
func scanDocument(line, closing, prefix []byte) (binding int, doc []byte, ok bool) {
	rest, ok := bytes.CutPrefix(line, prefix)
	if !ok {
		return 0, nil, false
	}
	if after, given := bytes.CutPrefix(rest, bindingMember); given {
		i := 0
		for ; i < len(after) && after[i] >= '0' && after[i] <= '9' && i < 9; i++ {
			binding = binding*10 + int(after[i]-'0')
		}
		if i == 0 || i >= len(after) || after[i] != ',' {
			return 0, nil, false
		}
		rest = after[i+1:]
	}
	if rest, ok = bytes.CutPrefix(rest, docMember); !ok {
		return 0, nil, false
	}
	if doc, ok = bytes.CutSuffix(rest, closing); !ok || len(doc) == 0 || doc[0] != '{' || doc[len(doc)-1] != '}' {
		return 0, nil, false
	}
	return binding, doc, true
}

// CheckpointPatch finds the patch of a checkpoint line without decoding the rest; not ok: DecodeCaptureResponse has to.
func CheckpointPatch(line []byte) (patch []byte, ok bool) {
	const opening, end = `{"checkpoint":{"state":{"updated":`, `,"mergePatch":true}}}`
	rest, ok := bytes.CutPrefix(line, []byte(opening))
	if !ok {
		return nil, false
	}
	patch, ok = bytes.CutSuffix(rest, []byte(end))
	return patch, ok && rawjson.Valid(patch) == nil
}
