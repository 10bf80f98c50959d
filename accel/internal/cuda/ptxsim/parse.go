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

// parser builds the syntax tree, with one token of lookahead.
type parser struct {
	lexer
	token  token
	module *module
	depth  int
}

func parseModule(source string) (*module, error) {
	lines := strings.Split(source, "\n")
	p := &parser{lexer: lexer{source: source, line: 1, lines: lines}, module: &module{functions: map[string]*function{}, lines: lines}}
	if err := p.advance(); err != nil {
		return nil, err
	}
	for p.token.kind != tokenEnd {
		if err := p.topLevel(); err != nil {
			return nil, err
		}
	}
	if p.module.version == 0 {
		return nil, p.failure(1, "no .version directive")
	}
	return p.module, nil
}

func (p *parser) advance() (err error) {
	p.token, err = p.next()
	return err
}

func (p *parser) is(text string) bool {
	return p.token.text == text && (p.token.kind == tokenMark || p.token.kind == tokenWord)
}

// accept reads the next token if it is the text.
func (p *parser) accept(text string) (bool, error) {
	if !p.is(text) {
		return false, nil
	}
	return true, p.advance()
}

func (p *parser) expect(text string) error {
	if !p.is(text) {
		return p.failure(p.token.line, "%q expected, not %q", text, p.token.text)
	}
	return p.advance()
}

func (p *parser) name() (string, error) {
	if p.token.kind != tokenWord || p.token.text[0] == '.' {
		return "", p.failure(p.token.line, "name expected, not %q", p.token.text)
	}
	name := p.token.text
	return name, p.advance()
}

// integer reads an unsigned number.
func (p *parser) integer() (uint64, error) {
	if p.token.kind != tokenNumber {
		return 0, p.failure(p.token.line, "number expected, not %q", p.token.text)
	}
	v, err := strconv.ParseUint(strings.TrimRight(p.token.text, "Uu"), 0, 64)
	if err != nil {
		return 0, p.failure(p.token.line, "%q is not an integer", p.token.text)
	}
	return v, p.advance()
}

// small reads a number up to a maximum.
func (p *parser) small(bound int) (int, error) {
	line := p.token.line
	v, err := p.integer()
	if err == nil && v > uint64(bound) {
		err = p.failure(line, "%d is more than the supported %d", v, bound)
	}
	return int(v), err
}

func (p *parser) topLevel() error {
	line := p.token.line
	switch p.token.text {
	case ".version":
		return p.version()
	case ".target":
		return p.target()
	case ".address_size":
		if err := p.advance(); err != nil {
			return err
		}
		if n, err := p.integer(); err != nil || n != 64 {
			return p.failure(line, "only .address_size 64 is supported")
		}
		return nil
	case ".file":
		return p.file()
	case ".loc":
		return p.location()
	case ".pragma":
		return p.pragma()
	case ".section":
		return p.section()
	}
	extern := false
	for p.is(".visible") || p.is(".extern") || p.is(".weak") || p.is(".common") {
		extern = extern || p.is(".extern")
		if err := p.advance(); err != nil {
			return err
		}
	}
	switch p.token.text {
	case ".entry", ".func":
		return p.function(extern)
	case ".global", ".const", ".shared":
		vs, err := p.declaration(extern)
		p.module.variables = append(p.module.variables, vs...)
		return err
	}
	return p.failure(line, "%q is not supported here", p.token.text)
}

func (p *parser) version() error {
	if err := p.advance(); err != nil {
		return err
	}
	major, minor, _ := strings.Cut(p.token.text, ".")
	a, errA := strconv.Atoi(major)
	b, errB := strconv.Atoi(minor)
	if errA != nil || errB != nil || a < 6 || a > 9 || b < 0 || b > 9 {
		return p.failure(p.token.line, "PTX version %q is not supported: 6.0 to 9.x are", p.token.text)
	}
	p.module.version = 10*a + b
	return p.advance()
}

func (p *parser) target() error {
	if err := p.advance(); err != nil {
		return err
	}
	name, err := p.name()
	if err != nil {
		return err
	}
	if !strings.HasPrefix(name, "sm_") {
		return p.failure(p.token.line, "target %q is not supported", name)
	}
	p.module.target = name
	for p.is(",") {
		if err := p.advance(); err != nil {
			return err
		}
		if _, err := p.name(); err != nil { // debug, texmode_…
			return err
		}
	}
	return nil
}

// pragma skips a hint for the compiler.
func (p *parser) pragma() error {
	for !p.is(";") {
		if p.token.kind == tokenEnd {
			return p.failure(p.token.line, ".pragma without an end")
		}
		if err := p.advance(); err != nil {
			return err
		}
	}
	return p.advance()
}

// section skips debug data.
func (p *parser) section() error {
	for !p.is("}") {
		if p.token.kind == tokenEnd {
			return p.failure(p.token.line, ".section without an end")
		}
		if err := p.advance(); err != nil {
			return err
		}
	}
	return p.advance()
}

func (p *parser) function(extern bool) error {
	f := &function{line: p.token.line, entry: p.is(".entry"), extern: extern}
	err := p.advance()
	if err == nil && !f.entry && p.is("(") {
		f.results, err = p.parameters()
	}
	if err == nil {
		f.name, err = p.name()
	}
	if err == nil && p.is("(") {
		f.params, err = p.parameters()
	}
	for err == nil && !p.is("{") && !p.is(";") {
		err = p.bound(f)
	}
	if err != nil {
		return err
	}
	known := p.module.functions[f.name]
	if known != nil && known.body != nil {
		return p.failure(f.line, "%s is defined twice", f.name)
	}
	if known == nil {
		p.module.order = append(p.module.order, f.name)
	}
	p.module.functions[f.name] = f
	if p.is(";") { // a prototype
		return p.advance()
	}
	f.body, err = p.block()
	if f.body == nil {
		f.body = []statement{}
	}
	return err
}

// bound reads a directive between a function's head and its body.
func (p *parser) bound(f *function) error {
	line, word := p.token.line, p.token.text
	if err := p.advance(); err != nil {
		return err
	}
	triple := func() (d [3]int, err error) {
		d = [3]int{1, 1, 1}
		for i := range d {
			if d[i], err = p.small(1 << 20); err != nil || !p.is(",") {
				return d, err
			}
			if err = p.advance(); err != nil {
				return d, err
			}
		}
		return d, nil
	}
	switch word {
	case ".maxntid":
		d, err := triple()
		f.maxThreads = d[0] * d[1] * d[2]
		return err
	case ".reqntid":
		d, err := triple()
		f.reqThreads = d
		return err
	case ".reqnctapercluster":
		d, err := triple()
		f.reqCluster = d
		return err
	case ".minnctapersm", ".maxnctapersm", ".maxnreg", ".maxclusterrank":
		_, err := p.integer()
		return err
	case ".explicitcluster", ".noreturn":
		return nil
	case ".pragma":
		return p.pragma()
	}
	return p.failure(line, "%q is not supported here", word)
}
