package main

import (
	"context"
	"fmt"
	"hash/fnv"
	"strings"

	log "github.com/sirupsen/logrus"

	"github.com/estuary/connectors/protocol"
)

// partSlotName is the name of the replication slot of the process that owns r; base is the capture's. A slot has one reader, so a process that owns the
// upper part of a split range has a slot of its own.
func partSlotName(base string, r protocol.Range) string {
	if r.Begin == 0 {
		return base
	}
	suffix := fmt.Sprintf("_%08x", r.Begin)
	return fitName(base, maxNameBytes-len(suffix)) + suffix
}

// baseSlotName is the slot's name of the process that owns the begin of the key space, and so the prefix of all slots of this capture. task is the
// capture's name where the runner gives one. A hash keeps names apart that differ only in what a slot's name cannot have.
func (c *config) baseSlotName(task string) string {
	name := c.olderSlotName(task)
	if c.Advanced.SlotName != "" || strings.Trim(task, "abcdefghijklmnopqrstuvwxyz0123456789_") == "" {
		return name
	}
	suffix := hashSuffix(task)
	return name[:min(len(name), maxNameBytes-len(suffix))] + suffix
}

// olderSlotName is the base name of captures that began when names were only made to fit: several could share it.
func (c *config) olderSlotName(task string) string {
	switch {
	case c.Advanced.SlotName != "":
		return c.Advanced.SlotName
	case task == "":
		return defaultSlot
	}
	letters := []byte("flow_" + strings.ToLower(task))
	for i, b := range letters {
		if (b < 'a' || b > 'z') && (b < '0' || b > '9') {
			letters[i] = '_'
		}
	}
	return fitName(string(letters), maxNameBytes)
}

// fitName cuts a name to a number of bytes; a hash of the whole keeps cut names apart.
func fitName(name string, maxBytes int) string {
	if len(name) <= maxBytes {
		return name
	}
	suffix := hashSuffix(name)
	return name[:maxBytes-len(suffix)] + suffix
}

func hashSuffix(name string) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(name)) // a hash never fails
	return fmt.Sprintf("_%08x", h.Sum32())
}

// slotBase is the base name of a capture's slots in the process that owns r. A capture that has a state (resumes), and began when names were only made
// to fit, goes on with its slot: it has none by the newer name, but one by the older.
func slotBase(ctx context.Context, q querier, c *config, task string, r protocol.Range, resumes bool) (string, error) {
	name, older := c.baseSlotName(task), c.olderSlotName(task)
	if name == older {
		return name, nil
	}
	for _, base := range []string{name, older} {
		for _, slot := range []string{partSlotName(base, r), base} {
			st, err := readSlot(ctx, q, slot)
			switch {
			case err != nil:
				return "", c.explain("looking up the replication slot", err)
			case st == nil || st.foreign(c.Database) != nil:
			case base == older && !resumes:
				if !st.Active {
					log.WithFields(log.Fields{"slot": slot, "sql": dropSlotSQL(slot)}).
						Warn("nobody reads this replication slot, which earlier releases used for captures of this name: drop it if no other capture goes on with it")
				}
				return name, nil
			default:
				return base, nil
			}
		}
	}
	return name, nil
}
