package protocoltest

import (
	"fmt"
)

// sinkUnary: each process answers spec and then one request, and ends with its stdin; to apply twice does nothing the second time.
func sinkUnary(s *sinkSession) error {
	first := ""
	for _, request := range []string{"validate", "apply", "apply again", "validate again"} {
		d, err := s.drive()
		if err != nil {
			return err
		}
		defer d.end()
		switch request {
		case "validate", "validate again":
			err = d.validate(first)
		case "apply":
			var done string
			if done, err = d.apply(""); err == nil && done == "" {
				s.report("applied does not tell what was done")
			}
			first = s.materialization()
		case "apply again":
			var done string
			if done, err = d.apply(first); err == nil && done != "" {
				s.report("a second apply of the same does something: %q", done)
			}
		}
		if err != nil {
			return fmt.Errorf("%s: %w", request, err)
		}
		if err := d.endsWithInput(request); err != nil {
			return err
		}
	}
	if err := s.level("after apply"); err != nil {
		return err
	}
	for i, config := range s.f.Refused {
		d, err := s.drive()
		if err != nil {
			return err
		}
		defer d.end()
		if err := d.refuses(fmt.Sprintf("validate with the refused config %d", i),
			`{"validate":{"name":"acme/mat","connectorType":"IMAGE","config":`+compact(config)+`,"bindings":[{"resourceConfig":`+canonical(s.resource(orders))+`,"collection":`+canonical(collections[orders].spec())+`}]}}`); err != nil {
			return err
		}
	}
	return nil
}

// Transactions that the suites share.
var (
	firstOrders = []store{
		{binding: orders, doc: order(1, "Acme", "12.5")},
		{binding: orders, doc: order(2, "Bolt", "-0.25")},
		{binding: events, doc: event("a", 1, "first")},
		{binding: events, doc: event("a", -300, "é \"quoted\"")},
		{binding: events, doc: event("b", 1, "")},
		{binding: events, doc: event("b", 1<<53+1, "a key that no double holds")},
		{binding: visits, doc: visit(7, "/home")},
		{binding: visits, doc: visit(7, "/home")},
	}
	secondOrders = []store{
		{binding: orders, doc: order(1, "Acme & Sons", "20")},
		{binding: orders, doc: order(2, "Bolt", "-0.25"), deleted: true},
		{binding: orders, doc: order(3, "Cog", "1000000")},
		{binding: events, doc: event("a", 1, "again")},
		{binding: events, doc: event("b", 1, ""), deleted: true},
		{binding: visits, doc: visit(3, "/cart")},
		{binding: visits, doc: visit(7, "/pay")},
	}
)

// sinkExample is the worked example of the protocol: two transactions, inserts, then an update, a deletion and an insert; and the end of stdin.
func sinkExample(s *sinkSession, packed bool) error {
	s.packed = packed
	d, err := s.begin()
	if err != nil {
		return err
	}
	defer d.end()
	// Nothing of the first transaction is loaded: its keys are above the greatest one.
	if err := d.acknowledge(); err != nil {
		return err
	}
	if err := d.commit(firstOrders); err != nil {
		return err
	}
	if err := d.transaction(secondOrders); err != nil {
		return err
	}
	if err := d.acknowledge(); err != nil {
		return err
	}
	if err := s.level("after two transactions"); err != nil {
		return err
	}
	return d.endsWithInput("two transactions")
}

// sinkOrders: the runner acknowledges before, between or after the loads, and sends those of several bindings mixed.
func sinkOrders(s *sinkSession) error {
	d, err := s.begin()
	if err != nil {
		return err
	}
	defer d.end()
	if err := d.transaction(firstOrders); err != nil {
		return err
	}
	for round, place := range []int{0, 1, 3, 5} {
		list := []store{
			{binding: events, doc: event("a", 1, fmt.Sprint("round ", round))},
			{binding: orders, doc: order(1, fmt.Sprint("round ", round), "1.5")},
			{binding: events, doc: event("nowhere", round, "new")},
			{binding: orders, doc: order(100+round, "new", "2.5")},
			{binding: events, doc: event("b", 1, "x"), deleted: round == 1},
		}
		for i := range len(list) + 1 {
			if i == place {
				if err := d.p.send(`{"acknowledge":{}}`); err != nil {
					return d.explain(err)
				}
			}
			if i < len(list) {
				if err := d.loads(list[i : i+1]); err != nil {
					return err
				}
			}
		}
		// Documents may come before the acknowledgement only when the transaction before needs none; ours takes them in either order.
		if err := d.acknowledgedAmongLoaded(); err != nil {
			return err
		}
		if err := d.commit(list); err != nil {
			return err
		}
	}
	if err := d.acknowledge(); err != nil {
		return err
	}
	if err := s.level("after acknowledgements among loads"); err != nil {
		return err
	}
	return d.endsWithInput("acknowledgements among loads")
}

// acknowledgedAmongLoaded takes responses until acknowledged.
func (d *sinkDriver) acknowledgedAmongLoaded() error {
	for {
		r, err := d.next()
		if err != nil {
			return d.explain(fmt.Errorf("no response acknowledged: %w", err))
		}
		switch r.kind {
		case "loaded":
			d.take(r)
		case "acknowledged":
			if r.Acknowledged.State != nil {
				return d.s.patch(r.Acknowledged.State.Updated)
			}
			return nil
		default:
			return fmt.Errorf("the response %q came where loaded or acknowledged had to", r.kind)
		}
	}
}

// sinkEmpty: transactions without documents, without loads, of one binding, of deletions of what is not there; and an update between two inserts.
func sinkEmpty(s *sinkSession) error {
	d, err := s.begin()
	if err != nil {
		return err
	}
	defer d.end()
	for _, list := range [][]store{
		nil,
		{{binding: orders, doc: order(1, "first", "1.5")}},
		nil,
		{{binding: orders, doc: order(1, "updated", "1.5")}},
		{{binding: orders, doc: order(2, "after an update", "1.5")}},
		{{binding: visits, doc: visit(1, "/only")}, {binding: visits, doc: visit(1, "/only")}, {binding: visits, doc: visit(1, "/other")}},
		{{binding: events, doc: event("never", 1, "there"), deleted: true}},
		{{binding: orders, doc: order(1, "updated", "1.5"), deleted: true}},
		{{binding: orders, doc: order(1, "again", "1.5")}, {binding: visits, doc: visit(1, "/only")}},
		nil,
	} {
		if err := d.transaction(list); err != nil {
			return err
		}
	}
	if err := d.acknowledge(); err != nil {
		return err
	}
	if err := s.level("after transactions with little in them"); err != nil {
		return err
	}
	return d.endsWithInput("transactions with little in them")
}
