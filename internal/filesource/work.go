package filesource

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	log "github.com/sirupsen/logrus"

	"github.com/estuary/connectors/internal/blob"
	"github.com/estuary/connectors/internal/filesource/sweep"
	"github.com/estuary/connectors/parser"
	"github.com/estuary/connectors/protocol"
	"github.com/estuary/connectors/protocol/source"
)

// chunk is a batch and what its documents mean to the sweep.
type chunk struct {
	batch *source.Batch
	steps []step
}

// step is something to tell the sweep.
type step struct {
	kind   stepKind
	object *blob.Object
	at     string    // began, reached: the cursor
	why    sweep.Why // deferred
	err    error     // failed
}

type stepKind int

const (
	began    stepKind = iota
	reached           // inside the file that was begun last
	done              // to its end
	gone              // deleted
	deferred          // not readable
	failed            // the last step that there is
)

// worker reads the files of a unit.
type worker struct {
	*reader
	unit  *unit
	chunk *chunk
}

// parse reads the files of a unit into chunks.
func (r *reader) parse(ctx context.Context, u *unit) {
	defer close(u.chunks)
	w := &worker{reader: r, unit: u, chunk: r.newChunk()}
	for _, f := range u.files {
		if !w.file(ctx, f) {
			break
		}
	}
	w.hand(ctx)
}

func (r *reader) newChunk() *chunk { return &chunk{batch: r.out.NewBatch()} }

func (w *worker) tell(s step) { w.chunk.steps = append(w.chunk.steps, s) }

// hand gives the chunk to the emitter, or up.
func (w *worker) hand(ctx context.Context) bool {
	select {
	case w.unit.chunks <- w.chunk:
		w.chunk = w.newChunk()
		return true
	case <-ctx.Done():
		return false
	}
}

// maxReplaced is how often a file that is replaced while it is read is begun again in one sweep.
const maxReplaced = 5

// file reads one file, whatever becomes of it. false: the unit ends here.
func (w *worker) file(ctx context.Context, f *file) bool {
	object := func() *blob.Object { o := f.object; return &o }
	name := w.settings.name(f.object.Key)
	switch f.fate {
	case isGone:
		w.tell(step{kind: gone, object: object()})
		return true
	case toDefer:
		w.tell(step{kind: deferred, object: object(), why: sweep.Archived})
		return true
	case toRead:
	}
	for replaced := 0; ; replaced++ {
		err := w.read(ctx, f)
		if f.fetched != nil {
			select {
			case <-f.fetched:
				w.ahead.give(f.object.Size)
				f.fetched, f.data = nil, nil
			default: // the run has ended, and the fetch, which owns data until it is over, not yet
				return false
			}
		}
		if errors.Is(err, blob.ErrChanged) || w.overwritten(ctx, f, err) {
			var again bool
			if again, err = w.replaced(ctx, f); err == nil && !again {
				return true // its version is one that was read
			} else if err == nil && (replaced < maxReplaced || w.settings.Advanced.AscendingKeys) { // with ascending keys this look is the last one
				log.WithField("file", name).Warn("the file was replaced while it was to be read; the new version is read from its start")
				continue
			} else if err == nil {
				err = errReplaced
			}
		}
		switch {
		case err == nil:
			w.tell(step{kind: done, object: object()})
			return true
		case ctx.Err() != nil:
			return false
		case errors.Is(err, errReplaced):
			log.WithField("file", name).Warnf("the file was replaced %d times while it was read; it is left for the next look at the bucket", replaced)
			w.tell(step{kind: gone, object: object()})
			return true
		case errors.Is(err, blob.ErrNotFound):
			log.WithField("file", name).Warn("the file is gone since it was listed")
			w.tell(step{kind: gone, object: object()})
			return true
		case errors.Is(err, blob.ErrArchived):
			w.tell(step{kind: deferred, object: object(), why: sweep.Archived})
			return true
		case errors.Is(err, blob.ErrDenied):
			log.WithField("file", name).Warnf("the file is passed over, and tried again by the next run: %v", err)
			w.tell(step{kind: deferred, object: object(), why: sweep.Denied})
			return true
		}
		if p, ok := errors.AsType[*parser.Error](err); ok && p.Kind != parser.KindIO {
			if w.settings.Advanced.OnFileError == "skip" {
				log.WithField("file", name).Warnf("the rest of the file is skipped until it or the parser's configuration changes: %v", err)
				w.tell(step{kind: deferred, object: object(), why: sweep.Faulty})
				return true
			}
			err = &protocol.Problem{Kind: protocol.Config, Summary: err.Error(), Fix: cure(p), Err: errFile}
		} else if _, told := errors.AsType[*protocol.Problem](err); !told {
			err = &protocol.Problem{Kind: protocol.Transient, Summary: fmt.Sprintf("reading %s: %v", name, err), Fix: "try again", Err: err}
		}
		w.tell(step{kind: failed, object: object(), err: err})
		return false
	}
}

// cure says what can be done about a file that cannot be read as it is.
func cure(bad *parser.Error) string {
	switch {
	case errors.Is(bad, parser.ErrNoFormat):
		return "or leave the file out with advanced.exclude"
	case bad.Row > 0 && bad.Kind == parser.KindData:
		return "correct the file, raise errorThreshold among the parser's options of its format, or set advanced.onFileError to skip"
	}
	return "replace the file, adapt the parser's options, or leave it out with advanced.exclude"
}

// overwritten tells whether a file that could not be parsed has changed under the parser: a local file that is written to in place shows the bytes of two
// versions, and one that grows was listed in the middle of a row.
func (w *worker) overwritten(ctx context.Context, f *file, err error) bool {
	if p, ok := errors.AsType[*parser.Error](err); !ok || p.Kind == parser.KindIO {
		return false
	}
	info, err := w.bucket.Stat(ctx, f.object.Key)
	return errors.Is(err, blob.ErrNotFound) || err == nil && info.Version != f.object.Version
}

// errReplaced: the file is one that is replaced all the time.
var errReplaced = errors.New("the file is replaced again and again")

// errFile marks a problem as one of a file, which ends the stream and not the run.
var errFile = errors.New("the file cannot be read as it is")

// replaced takes the version that has taken the place of the one that was to be read. again is false when it was read before.
func (w *worker) replaced(ctx context.Context, f *file) (again bool, err error) {
	info, err := w.bucket.Stat(ctx, f.object.Key)
	if err != nil {
		return false, err
	}
	if w.known(&info.Object) {
		return false, nil
	}
	f.object, f.info, f.from = info.Object, info, ""
	if info.Archived {
		return false, blob.ErrArchived
	}
	return true, nil
}

// read appends a file's documents to chunks.
func (w *worker) read(ctx context.Context, f *file) error {
	defer func() {
		if f.first != nil {
			_ = f.first.Close() // read to nowhere
			f.first = nil
		}
	}()
	if err := w.head(ctx, f); err != nil {
		return err
	}
	if f.info.Modified.After(f.object.Modified) { // the same version was put again
		f.object.Modified = f.info.Modified
	}
	name := w.settings.name(f.object.Key)
	config := w.parser
	config.AddValues = map[string]json.RawMessage{filePointer: quoted(name), versionPointer: quoted(f.object.Version)}
	var from parser.Cursor
	if f.from != "" {
		if err := json.Unmarshal([]byte(f.from), &from); err != nil {
			log.WithField("file", name).Warnf("the place where reading stopped cannot be used, the file is read from its start: %v", err)
		}
	}
	object := f.object
	w.tell(step{kind: began, object: &object, at: f.from})
	p, err := parser.Open(ctx, &config, parser.Input{
		Name: name, ContentType: f.info.ContentType, ContentEncoding: f.info.ContentEncoding, Size: f.object.Size,
		Open: func(ctx context.Context, off, n int64) (io.ReadCloser, error) { return w.openPart(ctx, f, off, n) },
	}, from)
	if err != nil {
		return err
	}
	defer func() { _ = p.Close() }() // what it read is read
	return w.documents(ctx, f, p)
}

func quoted(s string) json.RawMessage {
	text, _ := json.Marshal(s) // a string always has a JSON form
	return text
}

func (w *worker) documents(ctx context.Context, f *file, p *parser.Reader) error {
	told := true // the sweep knows of all documents up to here
	for {
		doc, err := p.Next(w.chunk.batch.Begin(w.binding))
		if err != nil {
			if rejected := p.Stats().Rejected; rejected > 0 {
				log.WithFields(log.Fields{"file": w.settings.name(f.object.Key), "rejected": rejected, "read": p.Stats().Documents}).Warn("rows of the file were skipped")
			}
			if errors.Is(err, io.EOF) {
				return nil
			}
			if !told {
				w.reach(p)
			}
			return err
		}
		w.chunk.batch.End(doc)
		if told = w.chunk.batch.Len() >= w.limits.batchBytes; told {
			w.reach(p)
			if !w.hand(ctx) {
				return ctx.Err()
			}
		}
	}
}

// reach tells how far the documents go.
func (w *worker) reach(p *parser.Reader) {
	at, err := json.Marshal(p.Cursor())
	if err != nil {
		at = nil // from the start, then; a cursor always has a JSON form
	}
	w.tell(step{kind: reached, at: string(at)})
}
