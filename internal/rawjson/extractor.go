package rawjson

// Extractor finds the values of many pointers in one pass over a document. It may be used concurrently.
type Extractor struct {
	root   node
	length int
}

// node is a location; its children are in the order in which pointers name them first, which is the order documents have most often.
type node struct {
	outs     []int // places of Extract's result
	names    []string
	openings []string // what most writers put before the children's values: the name in quotes and a colon; "": it needs escapes
	indices  []int    // of names, as array indices; negative: none
	children []*node
	byName   map[string]int // nil for a few children
}

// NewExtractor makes an extractor of JSON pointers; one may be there twice, and one may lead through another.
func NewExtractor(pointers []string) (*Extractor, error) {
	e := &Extractor{length: len(pointers)}
	for i, text := range pointers {
		p, err := ParsePointer(text)
		if err != nil {
			return nil, err
		}
		n := &e.root
		for _, token := range p.tokens {
			n = n.child(token)
		}
		n.outs = append(n.outs, i)
	}
	e.root.seal()
	return e, nil
}

func (n *node) child(token string) *node {
	for i, name := range n.names {
		if name == token {
			return n.children[i]
		}
	}
	c := new(node)
	n.names, n.indices, n.children = append(n.names, token), append(n.indices, index(token)), append(n.children, c)
	return c
}

// seal makes the map of a node with so many children that comparing with each is slower.
func (n *node) seal() {
	for _, name := range n.names {
		opening := string(AppendQuoted(nil, []byte(name))) + ":"
		if len(opening) != len(name)+3 {
			opening = ""
		}
		n.openings = append(n.openings, opening)
	}
	if len(n.names) > 4 {
		n.byName = make(map[string]int, len(n.names))
		for i, name := range n.names {
			n.byName[name] = i
		}
	}
	for _, c := range n.children {
		c.seal()
	}
}

// find returns the child of a raw name; negative: there is none. next is the most likely one.
func (n *node) find(raw []byte, next int) int {
	if next < len(n.names) && string(raw) == n.names[next] {
		return next
	}
	for _, c := range raw {
		if c == '\\' {
			raw = AppendUnquoted(nil, raw)
			break
		}
	}
	if n.byName != nil {
		if i, ok := n.byName[string(raw)]; ok {
			return i
		}
		return -1
	}
	for i, name := range n.names {
		if string(raw) == name {
			return i
		}
	}
	return -1
}

// Extract sets into[i] to the value of the i-th pointer, a view of doc; nil: nothing is there. The whole document is checked.
// into must be as long as the list of pointers.
func (e *Extractor) Extract(doc []byte, into [][]byte) error {
	into = into[:e.length]
	clear(into)
	i, f := e.root.walk(doc, space(doc, 0), 0, into)
	if f == 0 {
		if i = space(doc, i); i == len(doc) {
			return nil
		}
		f = faultTrailing
	}
	clear(into)
	return f.at(doc, i)
}

// walk reads the value at i and returns its end, or where the fault is.
func (n *node) walk(doc []byte, i, depth int, into [][]byte) (int, fault) {
	begin := i
	var f fault
	switch {
	case len(n.children) == 0 || i >= len(doc):
		i, f = skipValue(doc, i, depth)
	case doc[i] == '{':
		i, f = n.walkObject(doc, i, depth+1, into)
	case doc[i] == '[':
		i, f = n.walkArray(doc, i, depth+1, into)
	default:
		i, f = skipValue(doc, i, depth)
	}
	if f == 0 {
		for _, out := range n.outs {
			into[out] = doc[begin:i]
		}
	}
	return i, f
}

func (n *node) walkObject(doc []byte, i, depth int, into [][]byte) (int, fault) {
	if depth > MaxDepth {
		return i, faultDepth
	}
	if i = space(doc, i+1); i < len(doc) && doc[i] == '}' {
		return i + 1, 0
	}
	next := 0
	for {
		c, value, f := n.member(doc, i, next)
		switch {
		case f != 0:
			return value, f
		case c < 0:
			i, f = skipValue(doc, value, depth)
		default:
			next = c + 1
			child := n.children[c]
			if len(child.children) > 0 {
				child.forget(into)
				i, f = child.walk(doc, value, depth, into)
				break
			}
			if value < len(doc) && doc[value] == '"' {
				i, f = skipString(doc, value+1)
			} else {
				i, f = skipValue(doc, value, depth)
			}
			if f == 0 {
				for _, out := range child.outs {
					into[out] = doc[value:i]
				}
			}
		}
		if f != 0 {
			return i, f
		}
		var done bool
		if i, done, f = separator(doc, i, '}'); f != 0 || done {
			return i, f
		}
	}
}

// member reads a member's name: the child of that name, negative: none, and where the value starts. next is the most likely child.
func (n *node) member(doc []byte, i, next int) (child, value int, f fault) {
	if next < len(n.openings) {
		if o := n.openings[next]; o != "" && len(doc)-i > len(o) && string(doc[i:i+len(o)]) == o && doc[i+len(o)] > ' ' {
			return next, i + len(o), 0
		}
	}
	nameEnd, value, f := memberName(doc, i)
	if f != 0 {
		return -1, value, f
	}
	return n.find(doc[i+1:nameEnd-1], next), value, 0
}

// forget drops what an earlier member of the same name has left below it: of two members the last counts.
func (n *node) forget(into [][]byte) {
	for _, c := range n.children {
		for _, out := range c.outs {
			into[out] = nil
		}
		c.forget(into)
	}
}

func (n *node) walkArray(doc []byte, i, depth int, into [][]byte) (int, fault) {
	if depth > MaxDepth {
		return i, faultDepth
	}
	if i = space(doc, i+1); i < len(doc) && doc[i] == ']' {
		return i + 1, 0
	}
	for at := 0; ; at++ {
		var f fault
		if c := n.element(at); c == nil {
			i, f = skipValue(doc, i, depth)
		} else {
			i, f = c.walk(doc, i, depth, into)
		}
		if f != 0 {
			return i, f
		}
		var done bool
		if i, done, f = separator(doc, i, ']'); f != 0 || done {
			return i, f
		}
	}
}

func (n *node) element(at int) *node {
	for i, want := range n.indices {
		if want == at {
			return n.children[i]
		}
	}
	return nil
}
