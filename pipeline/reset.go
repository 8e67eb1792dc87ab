package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"path/filepath"
	"strings"

	"github.com/estuary/connectors/internal/command"
	"github.com/estuary/connectors/internal/pipeline/config"
	"github.com/estuary/connectors/internal/pipeline/runner"
)

// reset forgets the pipeline's position, after a person has typed its name.
func (inv *invocation) reset() (int, error) {
	f, err := inv.file(config.ReadPlain)
	if err != nil {
		return 1, err
	}
	if !inv.flags.Yes {
		fmt.Fprintf(inv.Stderr, "The next run of %s empties its tables and copies everything anew. Type the pipeline's name to go on: ", f.Name)
		typed, _ := bufio.NewReader(inv.Stdin).ReadString('\n') // a line without an end may be the name, too
		if strings.TrimSpace(typed) != f.Name {
			return 1, command.Problem("nothing was reset", "the name of the pipeline is "+f.Name+"; type it, or give --yes")
		}
	}
	left, err := runner.Reset(f)
	if err != nil {
		return 1, err
	}
	fmt.Fprintf(inv.Stdout, "Pipeline %s starts over at its next run. Nothing was deleted in either database.\n", f.Name)
	if lines := leftovers(left); len(lines) > 0 {
		fmt.Fprintf(inv.Stdout, "To remove what is there instead:\n\n%s\n", strings.Join(lines, "\n"))
	}
	return 0, nil
}

// leftovers is the SQL that removes what a pipeline has made, where the connector is one whose names are known here.
func leftovers(r runner.Remains) (lines []string) {
	if filepath.Base(r.Source.Name) == "source-postgres" {
		var c struct {
			Advanced struct{ SlotName, PublicationName string }
		}
		_ = json.Unmarshal(r.Source.Config, &c) // what it does not say has a default
		lines = append(lines, "-- in the source, once nobody reads the slot:")
		slot := c.Advanced.SlotName
		if slot == "" {
			slot = slotOf(r.Pipeline)
			if !plainName(r.Pipeline) {
				lines = append(lines, "-- (a capture of an earlier release goes on with the slot that its log lines tell)")
			}
		}
		lines = append(lines, "SELECT pg_drop_replication_slot("+literal(slot)+");")
		publication := c.Advanced.PublicationName
		if publication == "" {
			publication = "flow_publication"
		}
		lines = append(lines, "DROP PUBLICATION "+identifier(publication)+";  -- unless somebody else uses it, too")
	}
	if filepath.Base(r.Sink.Name) == "materialize-postgres" {
		lines = append(lines, "-- in the destination:")
		for _, path := range r.Tables {
			quoted := make([]string, len(path))
			for i, part := range path {
				quoted[i] = identifier(part)
			}
			lines = append(lines, "DROP TABLE "+strings.Join(quoted, ".")+";")
		}
		c := struct{ Schema string }{Schema: "public"}
		_ = json.Unmarshal(r.Sink.Config, &c) // what it does not say has a default
		lines = append(lines, "DELETE FROM "+identifier(c.Schema)+"."+identifier(checkpointTable)+" WHERE "+checkpointColumn+" = "+literal(r.Pipeline)+";")
	}
	return lines
}

// Where materialize-postgres keeps a pipeline's checkpoint.
const (
	checkpointTable  = "flow_checkpoints_v1"
	checkpointColumn = "materialization"
)

// slotOf is the name that source-postgres gives the slot of a capture of this name (its baseSlotName).
func slotOf(name string) string {
	const maxBytes = 63 // PostgreSQL's names are no longer
	letters := []byte("flow_" + strings.ToLower(name))
	for i, b := range letters {
		if (b < 'a' || b > 'z') && (b < '0' || b > '9') {
			letters[i] = '_'
		}
	}
	hashed := name // what a slot's name cannot have keeps names apart
	if plainName(name) {
		if len(letters) <= maxBytes {
			return string(letters)
		}
		hashed = string(letters)
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(hashed)) // a hash never fails
	suffix := fmt.Sprintf("_%08x", h.Sum32())
	return string(letters[:min(len(letters), maxBytes-len(suffix))]) + suffix
}

// plainName tells whether a slot's name can hold all of name's characters.
func plainName(name string) bool {
	return strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == ""
}

func identifier(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

func literal(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }
