package pgtest

import (
	"bufio"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Null is what Query returns for NULL.
const Null = `\N`

const queryTimeout = 60 * time.Second

// NewDatabase makes an empty database with a random name, and drops it after the test.
func (c *Cluster) NewDatabase(tb testing.TB) string {
	tb.Helper()
	name := "test_" + strings.ToLower(rand.Text()[:10])
	if err := c.Exec("postgres", "CREATE DATABASE "+name); err != nil {
		tb.Fatalf("%v", err)
	}
	tb.Cleanup(func() {
		// A connector that was killed a moment ago may still hold its slot, and a held slot keeps the database. Whatever cannot be dropped goes with
		// the cluster: the test has spoken by now.
		for range 20 {
			_, _ = c.Query("postgres", "SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots WHERE active AND database = '"+name+"'")
			if c.Exec("postgres", "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)") == nil {
				return
			}
			time.Sleep(50 * time.Millisecond)
		}
	})
	return name
}

// Exec runs statements, separated by semicolons, as the superuser.
func (c *Cluster) Exec(database, sql string) error {
	_, err := c.Query(database, sql)
	return err
}

// Query runs statements as the superuser and returns all their rows in text form, NULL as Null. It opens a connection for each call, over the socket:
// meant for the few statements around a test.
func (c *Cluster) Query(database, sql string) ([][]string, error) {
	rows, err := querySocket(filepath.Join(c.root, fmt.Sprintf(".s.PGSQL.%d", c.Port)), database, sql)
	if err != nil {
		return nil, fmt.Errorf("running %.80q on PostgreSQL %d, database %s: %w", sql, c.Version, database, err)
	}
	return rows, nil
}

// querySocket speaks the few messages of the simple query protocol that a trusted local connection needs, so that this package needs no driver.
func querySocket(path, database, sql string) ([][]string, error) {
	conn, err := net.Dial("unix", path)
	if err != nil {
		return nil, err
	}
	defer conn.Close() // nothing is in flight
	if err = conn.SetDeadline(time.Now().Add(queryTimeout)); err != nil {
		return nil, err
	}
	parameters := "user\x00" + User + "\x00database\x00" + database + "\x00\x00"
	startup := binary.BigEndian.AppendUint32(nil, uint32(8+len(parameters)))
	startup = binary.BigEndian.AppendUint32(startup, 3<<16)
	if _, err = conn.Write(append(startup, parameters...)); err != nil {
		return nil, err
	}
	in := bufio.NewReader(conn)
	if _, err = readUntilReady(in); err != nil {
		return nil, err
	}
	query := binary.BigEndian.AppendUint32([]byte{'Q'}, uint32(5+len(sql)))
	if _, err = conn.Write(append(append(query, sql...), 0)); err != nil {
		return nil, err
	}
	return readUntilReady(in)
}

func readUntilReady(in *bufio.Reader) ([][]string, error) {
	var rows [][]string
	var failure error
	for {
		var head [5]byte
		if _, err := io.ReadFull(in, head[:]); err != nil {
			if failure != nil {
				return nil, failure // the server said why it hung up
			}
			return nil, err
		}
		body := make([]byte, binary.BigEndian.Uint32(head[1:])-4)
		if _, err := io.ReadFull(in, body); err != nil {
			return nil, err
		}
		switch head[0] {
		case 'D':
			rows = append(rows, dataRow(body))
		case 'E':
			failure = errors.New(errorMessage(body))
		case 'Z':
			return rows, failure
		}
	}
}

func dataRow(body []byte) []string {
	row := make([]string, binary.BigEndian.Uint16(body))
	body = body[2:]
	for i := range row {
		size := int32(binary.BigEndian.Uint32(body))
		body = body[4:]
		if size < 0 {
			row[i] = Null
			continue
		}
		row[i], body = string(body[:size]), body[size:]
	}
	return row
}

// errorMessage renders an ErrorResponse as "SQLSTATE: message".
func errorMessage(body []byte) string {
	var code, message string
	for field := range strings.SplitSeq(string(body), "\x00") {
		switch {
		case strings.HasPrefix(field, "C"):
			code = field[1:]
		case strings.HasPrefix(field, "M"):
			message = field[1:]
		}
	}
	return code + ": " + message
}
