package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// link is a connector with its output as lines. One goroutine at a time reads from it.
type link struct {
	*child
	feed *feed
	buf  []byte // the buffer that is being read
	rest []byte // what is left of it
	over sync.Once
}

// connect starts a connector that speaks the protocol over its stdin and stdout.
func (p *pipe) connect(side, name string, onLog func(logLine)) (*link, error) {
	c, err := start(name, nil, &relay{side: side, file: p.file.Path, heard: onLog})
	if err != nil {
		return nil, err
	}
	return &link{child: c, feed: newFeed(c.stdout)}, nil
}

// end stops the connector; what it still prints is thrown away. Ending it again does nothing: whoever notices a failure ends it, and so does the session.
func (l *link) end(grace time.Duration) {
	l.over.Do(func() {
		l.feed.close()
		l.child.end(grace)
	})
}

// send writes whole lines.
func (l *link) send(lines []byte) error {
	if _, err := l.stdin.Write(lines); err != nil {
		return l.failure(fmt.Errorf("it takes no more requests: %w", err))
	}
	return nil
}

// line returns the next line, valid until the next call. io.EOF: the output has ended.
func (l *link) line(ctx context.Context) ([]byte, error) {
	for len(l.rest) == 0 {
		if l.buf != nil {
			l.feed.giveBack(l.buf)
			l.buf = nil
		}
		select {
		case buf, ok := <-l.feed.full:
			if !ok {
				if l.feed.err != nil {
					return nil, l.feed.err
				}
				return nil, io.EOF
			}
			l.buf, l.rest = buf, buf
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	line, rest := nextLine(l.rest)
	l.rest = rest
	return line, nil
}

// handOver gives the output to whoever reads it from now on, with what was read of it already.
func (l *link) handOver() *feed {
	if len(l.rest) > 0 {
		l.feed.ahead = append([]byte{}, l.rest...)
	}
	if l.buf != nil {
		l.feed.giveBack(l.buf)
		l.buf, l.rest = nil, nil
	}
	return l.feed
}

// reply returns the next line; that there is none is a failure of the connector.
func (l *link) reply(ctx context.Context) ([]byte, error) {
	line, err := l.line(ctx)
	switch {
	case err == nil:
		return line, nil
	case ctx.Err() != nil:
		return nil, err
	case errors.Is(err, io.EOF):
		err = errors.New("it ended without an answer")
	}
	return nil, l.failure(err)
}

// ask sends a request and returns the reply.
func (l *link) ask(ctx context.Context, request []byte) ([]byte, error) {
	if err := l.send(request); err != nil {
		return nil, err
	}
	return l.reply(ctx)
}

// unexpected tells that a line does not answer what was asked.
func (l *link) unexpected(wanted string, line []byte, err error) error {
	if err != nil {
		return fmt.Errorf("waiting for %s from the %s %s: %w", wanted, l.side, l.name, err)
	}
	const shown = 200
	if len(line) > shown {
		line = append(line[:shown:shown], "…"...)
	}
	return fmt.Errorf("the %s %s broke the protocol: it sent %s where %s has to come", l.side, l.name, line, wanted)
}
