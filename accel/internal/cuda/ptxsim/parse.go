package ptxsim

import (
	"strconv"
	"strings"
)

// Limits of a module, far above those that compilers reach.
const (
	maxArrayBytes = 1 << 28
	maxNesting    = 64
)

// parser builds the syntax tree, with one token of lookahead. Its methods panic with a *ParseError.
type parser struct {
	lexer
	token  token
	module *module
	depth  int
}

func parseModule(source string) *module {
	lines := strings.Split(source, "\n")
	p := &parser{lexer: lexer{source: source, line: 1, lines: lines}, module: &module{functions: map[string]*function{}, lines: lines}}
	p.advance()
	for p.token.kind != tokenEnd {
		p.topLevel()
	}
	if p.module.version == 0 {
		panic(p.failure(1, "no .version directive"))
	}
	return p.module
}

func (p *parser) advance() { p.token = p.next() }

func (p *parser) is(text string) bool {
	return p.token.text == text && (p.token.kind == tokenMark || p.token.kind == tokenWord)
}

// accept reads the next token if it is the text.
func (p *parser) accept(text string) bool {
	found := p.is(text)
	if found {
		p.advance()
	}
	return found
}

func (p *parser) expect(text string) {
	if !p.accept(text) {
		panic(p.failure(p.token.line, "%q expected, not %q", text, p.token.text))
	}
}

// list reads items with commas between them, and the text at their end.
func (p *parser) list(end string, item func()) {
	for !p.is(end) {
		item()
		if !p.accept(",") {
			break
		}
	}
	p.expect(end)
}

// nest limits the depth of what is read until the returned function is called.
func (p *parser) nest(what string) (end func()) {
	if p.depth++; p.depth > maxNesting {
		panic(p.failure(p.token.line, "%s nest more than %d deep", what, maxNesting))
	}
	return func() { p.depth-- }
}

func (p *parser) name() string {
	if p.token.kind != tokenWord || p.token.text[0] == '.' {
		panic(p.failure(p.token.line, "name expected, not %q", p.token.text))
	}
	name := p.token.text
	p.advance()
	return name
}

// integer reads an unsigned number.
func (p *parser) integer() uint64 {
	if p.token.kind != tokenNumber {
		panic(p.failure(p.token.line, "number expected, not %q", p.token.text))
	}
	v, err := strconv.ParseUint(strings.TrimRight(p.token.text, "Uu"), 0, 64)
	if err != nil {
		panic(p.failure(p.token.line, "%q is not an integer", p.token.text))
	}
	p.advance()
	return v
}

// small reads a number up to a maximum.
func (p *parser) small(bound int) int {
	line := p.token.line
	v := p.integer()
	if v > uint64(bound) {
		panic(p.failure(line, "%d is more than the supported %d", v, bound))
	}
	return int(v)
}

func (p *parser) topLevel() {
	line := p.token.line
	switch p.token.text {
	case ".version":
		p.version()
		return
	case ".target":
		p.target()
		return
	case ".address_size":
		p.advance()
		if p.integer() != 64 {
			panic(p.failure(line, "only .address_size 64 is supported"))
		}
		return
	case ".file":
		p.file()
		return
	case ".loc":
		p.location()
		return
	case ".pragma":
		p.skipTo(";")
		return
	case ".section": // debug data
		p.skipTo("}")
		return
	}
	extern := false
	for p.is(".visible") || p.is(".extern") || p.is(".weak") || p.is(".common") {
		extern = extern || p.is(".extern")
		p.advance()
	}
	switch p.token.text {
	case ".entry", ".func":
		p.function(extern)
	case ".global", ".const", ".shared":
		p.module.variables = append(p.module.variables, p.declaration(extern)...)
	default:
		panic(p.failure(line, "%q is not supported here", p.token.text))
	}
}

func (p *parser) version() {
	p.advance()
	major, minor, _ := strings.Cut(p.token.text, ".")
	a, errA := strconv.Atoi(major)
	b, errB := strconv.Atoi(minor)
	if errA != nil || errB != nil || a < 6 || a > 9 || b < 0 || b > 9 {
		panic(p.failure(p.token.line, "PTX version %q is not supported: 6.0 to 9.x are", p.token.text))
	}
	p.module.version = 10*a + b
	p.advance()
}

func (p *parser) target() {
	p.advance()
	name := p.name()
	if !strings.HasPrefix(name, "sm_") {
		panic(p.failure(p.token.line, "target %q is not supported", name))
	}
	p.module.target = name
	for p.accept(",") {
		p.name() // debug, texmode_…
	}
}

// skipTo skips a directive that means nothing here, such as a hint for the compiler.
func (p *parser) skipTo(end string) {
	directive := p.token.text
	for !p.accept(end) {
		if p.token.kind == tokenEnd {
			panic(p.failure(p.token.line, "%s without an end", directive))
		}
		p.advance()
	}
}

func (p *parser) function(extern bool) {
	f := &function{line: p.token.line, entry: p.is(".entry"), extern: extern}
	p.advance()
	if !f.entry && p.is("(") {
		f.results = p.parameters()
	}
	f.name = p.name()
	if p.is("(") {
		f.params = p.parameters()
	}
	for !p.is("{") && !p.is(";") {
		p.bound(f)
	}
	known := p.module.functions[f.name]
	if known != nil && known.body != nil {
		panic(p.failure(f.line, "%s is defined twice", f.name))
	}
	if known == nil {
		p.module.order = append(p.module.order, f.name)
	}
	p.module.functions[f.name] = f
	if p.accept(";") { // a prototype
		return
	}
	if f.body = p.block(); f.body == nil {
		f.body = []statement{}
	}
}

// bound reads a directive between a function's head and its body.
func (p *parser) bound(f *function) {
	line, word := p.token.line, p.token.text
	if word == ".pragma" {
		p.skipTo(";")
		return
	}
	p.advance()
	triple := func() [3]int {
		d := [3]int{1, 1, 1}
		for i := range d {
			if d[i] = p.small(1 << 20); !p.accept(",") {
				break
			}
		}
		return d
	}
	switch word {
	case ".maxntid":
		d := triple()
		f.maxThreads = d[0] * d[1] * d[2]
	case ".reqntid":
		f.reqThreads = triple()
	case ".reqnctapercluster":
		triple()
	case ".minnctapersm", ".maxnctapersm", ".maxnreg", ".maxclusterrank":
		p.integer()
	case ".explicitcluster", ".noreturn":
	default:
		panic(p.failure(line, "%q is not supported here", word))
	}
}
