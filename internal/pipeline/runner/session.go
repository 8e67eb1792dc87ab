package runner

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/estuary/connectors/internal/command"
	"github.com/estuary/connectors/internal/pipeline/config"
	"github.com/estuary/connectors/internal/pipeline/progress"
	"github.com/estuary/connectors/internal/pipeline/store"
	"github.com/estuary/connectors/protocol"
)

// pipe is a pipeline that runs. A session is one life of its two connectors.
type pipe struct {
	file    *config.File
	db      *store.Store
	tracker *progress.Tracker
	secrets *command.Secrets
	tail    bool

	// Of a session. What a transaction changes belongs to the committer.
	routes    []*route
	version   int // counts changes of the routes
	pos       position
	sinkState json.RawMessage
	// sinkConfig is the sink's configuration with what the runner adds.
	sinkConfig json.RawMessage
	applied    json.RawMessage   // what the sink applied last
	before     map[string]string // the streams of the last run, by path
	loadAll    bool              // rows may be there that we did not write
	lengths    bool              // the sink wants to be told where values end
	source     reader
	foreign    bool // the source speaks the Airbyte protocol only
	sink       *link
	sinkMu     sync.Mutex // guards sink against kill

	loads, stores []byte      // buffers of requests
	progressed    bool        // the session has committed documents
	opened        bool        // a session has come so far that both sides work
	givenUp       atomic.Bool // the source has given a stream up in this session
}

func (p *pipe) setSink(l *link) {
	p.sinkMu.Lock()
	defer p.sinkMu.Unlock()
	p.sink = l
}

func (p *pipe) killSink() {
	p.sinkMu.Lock()
	defer p.sinkMu.Unlock()
	if p.sink != nil {
		p.sink.kill()
	}
}

func (p *pipe) learnSecrets(schema, config json.RawMessage) error {
	return learnSecrets(p.secrets, schema, config)
}

// session runs both sides once: until the source has ended and everything is committed, or until something fails. Both are gone when it returns.
//
// The order of a start: what does the source offer; whose checkpoint counts; the sink, applied and opened; the source, from that position.
func (p *pipe) session(ctx context.Context, stop <-chan struct{}) (err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(ctx, p.killSink)()
	p.routes, p.sink, p.source, p.progressed = nil, nil, nil, false
	p.givenUp.Store(false)
	in, err := p.openSource(ctx)
	if err != nil {
		return err
	}
	p.source = in
	defer context.AfterFunc(ctx, func() { in.end(0) })()
	defer func() { in.end(0) }() // it has ended, or what it has left to say is of no use
	streams, err := in.offer(ctx)
	if err != nil {
		return err
	}
	if err := p.recall(ctx, streams); err != nil {
		return err
	}
	if err := in.prepare(); err != nil {
		return err
	}
	defer func() { err = p.endSink(err) }()
	if err := p.openTransactions(ctx); err != nil {
		return err
	}
	if err := p.rememberStreams(); err != nil {
		return err
	}
	p.describe()
	out, err := in.open(ctx)
	if err != nil {
		return err
	}
	p.opened = true
	logrus.WithFields(logrus.Fields{"streams": len(p.routes), "transaction": p.pos.Txn}).Info("the pipeline runs")
	c, err := p.newCollector()
	if err != nil {
		return err
	}
	return c.run(ctx, out, stop)
}

// endSink ends the sink between transactions, and at once after a failure.
func (p *pipe) endSink(err error) error {
	l := p.sink
	if l == nil {
		return err
	}
	if err != nil {
		l.kill()
		l.end(0)
		return err
	}
	l.closeStdin()
	if !l.wait(sinkGrace) {
		l.log().Warn("the sink does not end when its input does; it is killed")
	}
	l.end(0)
	if err := l.ending(); err != nil {
		l.log().WithError(err).Warn("the sink ended badly after its last transaction, which is safe")
	}
	return p.db.SetSinkState(p.sinkState)
}

// recall makes the routes, and finds out where to go on.
func (p *pipe) recall(ctx context.Context, streams []offered) (err error) {
	rec, err := p.db.Read()
	if err != nil {
		return err
	}
	p.sinkState, p.applied, p.before = rec.SinkState, rec.Applied, rec.Streams
	l, spec, err := p.startSink(ctx)
	if l != nil {
		defer l.end(sinkGrace)
	}
	if err != nil {
		return err
	}
	before := position{}
	before.Backfill, before.Resets = rec.Backfill, rec.Resets
	if p.routes, err = routes(p.file, streams, spec.ResourceConfigSchema, p.applied, before); err != nil {
		return err
	}
	destination, err := p.look(ctx, l)
	if err != nil {
		return err
	}
	if p.pos, err = remember(p.file, rec, destination); err != nil {
		return err
	}
	for _, r := range p.routes {
		r.count(p.pos)
	}
	if p.pos.adopted {
		logrus.WithField("position", p.pos.Checkpoint.String()).Info("going on from the destination's checkpoint, which is not the store's")
		if err := p.db.Commit(p.pos.Epoch, destination, p.sinkState); err != nil {
			return err
		}
	}
	p.tracker.Position(p.pos.Txn)
	return nil
}

// rememberStreams brings the store's counters and names level with the routes. A stream that is left out now misses what the source's log says from here on,
// so it will start over when it comes back; Airbyte sources keep a position for each stream.
func (p *pipe) rememberStreams() error {
	names := map[string]string{}
	for _, r := range p.routes {
		names[r.path] = r.full()
		p.pos.Backfill[r.path] += 0 // a binding that is named is known
	}
	for path := range p.before {
		if _, stays := names[path]; !stays && !p.foreign {
			p.pos.Backfill[path]++
		}
	}
	return errors.Join(p.db.SetCounters(p.pos.Backfill, p.pos.Resets), p.db.SetStreams(names))
}

func (p *pipe) describe() {
	list, logNames := make([]progress.Stream, len(p.routes)), make([]string, len(p.routes))
	for i, r := range p.routes {
		list[i] = progress.Stream{Name: r.full(), Table: joinPath(r.sink.ResourcePath)}
		logNames[i] = joinPath(r.offered.path)
	}
	p.tracker.Describe(list, logNames)
}

// committed counts a transaction.
func (p *pipe) committed(t *transaction) {
	p.tracker.Committed(p.pos.Txn, t.rows)
	for _, n := range t.rows {
		p.progressed = p.progressed || n > 0
	}
}

// hearSource learns from the source's log.
func (p *pipe) hearSource(line logLine) {
	name, _ := line.fields["stream"].(string)
	switch {
	case name == "":
	case line.message == "progress":
		rows, _ := line.fields["rows"].(float64)
		expected, _ := line.fields["expected"].(float64)
		p.tracker.Backfilling(name, rows, expected)
	case line.message == "the backfill is complete":
		p.tracker.Backfilled(name)
	case line.level <= logrus.ErrorLevel:
		p.givenUp.Store(true)
		p.tracker.StreamFailed(name, line.message)
	}
}

// Options say how to run.
type Options struct {
	File    *config.File
	Tracker *progress.Tracker
	Secrets *command.Secrets
	// Once: stop when the source has caught up.
	Once bool
	// Stop is closed to ask for an end at the next checkpoint.
	Stop <-chan struct{}
}

const (
	firstBackOff = time.Second
	longBackOff  = time.Minute
	// patience is how often a run with an end may fail in a row without getting on.
	patience = 5
)

// Runner owns a pipeline: nobody else can run it meanwhile.
type Runner struct {
	p    *pipe
	stop <-chan struct{}
}

// Open locks the pipeline's store. Somebody else who has it is an error of one sentence.
func Open(o Options) (*Runner, error) {
	db, err := store.Open(o.File.State)
	if err != nil {
		return nil, err
	}
	return &Runner{newPipe(o, db), o.Stop}, nil
}

func newPipe(o Options, db *store.Store) *pipe {
	if o.Tracker == nil {
		o.Tracker = progress.NewTracker(o.File.Name)
	}
	o.Secrets.Add(o.File.Secrets)
	return &pipe{file: o.File, db: db, tracker: o.Tracker, secrets: o.Secrets, tail: !o.Once}
}

// Run copies until it is told to stop, or with Once until the source has caught up, and lets go of the store. A side that fails is started again; an error
// that a person has to mend is returned.
func (r *Runner) Run(ctx context.Context) error {
	return errors.Join(r.p.run(ctx, r.stop), r.p.db.Close())
}

func (p *pipe) run(ctx context.Context, stop <-chan struct{}) error {
	backOff, failures := firstBackOff, 0
	for {
		err := p.session(ctx, stop)
		stopped := isClosed(stop)
		switch {
		case stopped || ctx.Err() != nil, err == nil && !p.tail:
			if err == nil && !stopped {
				p.tracker.CaughtUp()
			}
			return err
		case err != nil && !p.retries(err):
			return err
		}
		if p.progressed {
			backOff, failures = firstBackOff, 0
		}
		wait := backOff
		if err == nil {
			wait = batchInterval
			logrus.WithField("seconds", int(wait.Seconds())).Info("the source has read everything; it is asked again later")
		} else {
			if failures++; failures >= patience && !p.tail {
				return err
			}
			p.tracker.Error(p.secrets.Redact(command.Message(err)))
			logrus.WithField("seconds", int(wait.Seconds())).Error(strings.TrimRight(command.Message(err), ".;: \n") + "; both sides are started again")
			backOff = min(2*backOff, longBackOff)
		}
		select {
		case <-time.After(wait):
		case <-stop:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// batchInterval is how long after a source that ends by itself it is asked again.
const batchInterval = 5 * time.Minute

// retries tells whether starting again may help. What a person has to mend it does not help, nor against a newer session that has taken over; and a
// connector that ends with a reason before anything has ever worked would give it again.
func (p *pipe) retries(err error) bool {
	exit, isExit := errors.AsType[*exitError](err)
	switch {
	case protocol.KindOf(err) == protocol.Config:
		return false
	case isExit && (exit.fenced || exit.kind == protocol.Config.String()):
		return false
	case isExit && exit.side == sourceSide && exit.signal == 0 && p.givenUp.Load() && !p.tail:
		return false // the other streams are complete, and this one would fail again
	case isExit && (exit.signal != 0 || exit.kind == protocol.Transient.String()):
		return true
	}
	return p.opened
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// flowSource starts the source for Flow's protocol.
func (p *pipe) flowSource(ctx context.Context) (*source, error) {
	l, err := p.connect(sourceSide, p.file.Source.Name, p.hearSource)
	if err != nil {
		return nil, err
	}
	if p.file.Source.Protocol == "" {
		l.logs.hold() // of a source that knows nothing of Flow this is only confusing
	}
	s := &source{link: l, p: p}
	if s.spec, err = askSpec(ctx, l); err != nil {
		l.end(0)
		return nil, err
	}
	if err := p.learnSecrets(s.spec.ConfigSchema, p.file.Source.Config); err != nil {
		l.end(0)
		return nil, err
	}
	l.logs.release()
	return s, nil
}

func joinPath(path []string) string {
	out := ""
	for i, part := range path {
		if i > 0 {
			out += "."
		}
		out += part
	}
	return out
}

// openSource starts the source for the protocol that it speaks. A source that does not answer Flow's first request is tried as an Airbyte one.
func (p *pipe) openSource(ctx context.Context) (reader, error) {
	if p.file.Source.Protocol == "airbyte" || p.foreign {
		return orNone(p.openAirbyte(ctx))
	}
	if p.file.Source.Protocol == "flow" {
		return orNone(p.flowSource(ctx))
	}
	if _, err := locate(p.file.Source.Name); err != nil {
		return nil, err
	}
	patient, cancel := context.WithTimeout(ctx, answerWait)
	s, err := p.flowSource(patient)
	cancel()
	if err == nil {
		p.file.Source.Protocol = "flow"
		return s, nil
	}
	foreign, airbyteErr := p.openAirbyte(ctx)
	if airbyteErr != nil {
		return nil, err
	}
	logrus.WithField("side", sourceSide).Info("the source speaks the Airbyte protocol only: its STATEs are the position")
	p.foreign = true
	return foreign, nil
}

// answerWait is how long a source may take to say what it is.
const answerWait = 10 * time.Second

// orNone keeps a nil pointer out of the interface.
func orNone[R reader](r R, err error) (reader, error) {
	if err != nil {
		return nil, err
	}
	return r, nil
}
