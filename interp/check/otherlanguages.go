package check

import (
	"go/token"
	"go/types"
	"regexp"
	"strings"
)

// Hints about syntax of other languages. A hint is appended to the error of the parser, which
// stays, because the user may only have mistyped.

// keywordHints maps the first word of a line to a hint.
var keywordHints = map[string]string{
	"while": "the only loop in Go is for: for condition { }", "until": "the only loop in Go is for: for condition { }", "do": "the only loop in Go is for: for condition { }", "repeat": "the only loop in Go is for: for condition { }",
	"foreach": "to loop over a list, write for i, x := range list { }",
	"def":     "a function is declared by func name(x int) int { }", "function": "a function is declared by func name(x int) int { }",
	"fn": "a function is declared by func name(x int) int { }", "fun": "a function is declared by func name(x int) int { }",
	"lambda": "a function without a name is written func(x int) int { return x }",
	"let":    "a variable is defined by x := value", "val": "a variable is defined by x := value", "auto": "a variable is defined by x := value",
	"float": "a variable is defined by x := value", "double": "a variable is defined by x := value", "char": "a variable is defined by x := value",
	"class": "a type is declared by type Name struct { }, its methods outside of it",
	"try":   "Go has no exceptions: a function returns an error", "except": "Go has no exceptions: a function returns an error",
	"catch": "Go has no exceptions: a function returns an error", "raise": "Go has no exceptions: a function returns an error",
	"throw":  "Go has no exceptions: a function returns an error",
	"unless": "a condition is negated by !: if !condition { }",
	"enum":   "numbered constants are declared by const ( A = iota; B )", "interface": "a type is declared by type Name interface { }",
	"async": "go f() runs a function concurrently", "await": "go f() runs a function concurrently",
	"public": "a name that begins with a capital letter is exported", "private": "a name that begins with a lowercase letter is not exported",
	"using": `a package is imported by import "name"`, "require": `a package is imported by import "name"`,
	"pip": "%get downloads a module, so that cells can import its packages", "conda": "%get downloads a module, so that cells can import its packages",
	"cd": "a shell command begins with !; %cd changes the directory", "git": "a shell command begins with !", "cat": "a shell command begins with !",
	"mkdir": "a shell command begins with !", "rm": "a shell command begins with !", "ls": "a shell command begins with !", "apt": "a shell command begins with !",
	"elif": "Go has else if", "elseif": "Go has else if",
	"print": "a call has parentheses: fmt.Println(x)", "echo": "fmt.Println(x) prints",
	"from": `a package is imported by import "name"`,
	"with": "os.Open opens a file, and defer f.Close() closes it at the end of the function", "pass": "an empty block is written { }",
	"del":    "delete(m, key) removes a key of a map, slices.Delete(list, i, j) elements of a list",
	"assert": `if !condition { panic("message") } ends the cell, and package check compares values`,
	"global": "a function uses variables outside of it without a declaration", "nonlocal": "a function uses variables outside of it without a declaration",
	"not": "a condition is negated by !", "yield": "an iterator is a function func(yield func(int) bool)", "void": "a function is declared by func name(x int) int { }",
	"new": "a value is written T{ }, and its address &T{ }", "delete": "delete(m, key) removes a key of a map",
}

// syntaxHints are hints by the parser's error and the text of the line.
var syntaxHints = []struct{ msg, line, hint string }{
	{`':='`, `^(var|const)\b`, "write x := value, or var x = value"},
	{`^(a condition is missing|= is an assignment|expected )`, `^for\s+\w+\s*:?=[^;{]*,`, "the parts of a for are separated by semicolons: for i := 0; i < 3; i++ { }"},
	{`^expected `, `^for\s*\(\s*(\w+\s+)?\w+\s*:?=`, "the parts of a for have no parentheses: for i := 0; i < 3; i++ { }"},
	{`^expected '\)'`, `^for\s*\(\s*(\w+\s+)?\w+\s*(:|of\b|in\b)`, "to loop over a list, write for i, x := range list { }"},
	{`^expected '\{'`, `^for\s+each\b`, "to loop over a list, write for i, x := range list { }"},
	{`^unexpected comma; expecting \]`, ``, "a list is written []int{1, 2, 3}"},
	{`^expected operand, found '\{'`, `[=(,]\s*\{`, `a literal begins with its type, as in []int{1, 2} or map[string]int{"a": 1}`},
	{`U\+00A0|U\+202F|U\+2007`, ``, "this is a no-break space, probably copied from a web page: replace it by a space"},
	{`U\+200[B-F]|U\+FEFF|U\+2060|U\+00AD|U\+202[A-E]`, ``, "this character is invisible, probably copied from a web page: delete it"},
	{`U\+201[0-5]|U\+2212`, ``, "this is a dash, probably copied from a text: the minus sign of Go is -"},
	{`U\+2018|U\+2019|U\+201[AB]|U\+00B4`, ``, "this is a curly quotation mark, probably copied from a text: a string has double quotes \", a character has '"},
	{`U\+00AB|U\+00BB|U\+201E`, ``, "a string has double quotes \""},
	{`U\+00D7|U\+22C5|U\+00B7`, ``, "the multiplication sign of Go is *"},
	{`U\+00F7`, ``, "the division sign of Go is /"},
	{`U\+2264`, ``, "write <="}, {`U\+2265`, ``, "write >="}, {`U\+2260`, ``, "write !="},
	{`U\+2026`, ``, "this is one character; an ellipsis of Go is three dots"},
	{`^unexpected (in|not in) `, `^(if|else|return|\S+\s*:?=)`, "value, ok := m[key] finds a key in a map, slices.Contains(list, x) a value in a list"},
	{`^unexpected is `, `^(if|for|else|return|while|assert)\b|^\S+\s*:?=|\bis\s+(not\s+)?(None|nil|null|True|False)\b`, "values are compared by == and !="},
	{`^unexpected '(return|break|continue|goto)'`, `^(if|for|else)\b`, "a block is in braces: if x { }"},
	{`^unexpected 'if'`, `\bif\b.*\belse\b`, "if is a statement and has no value"},
	{`^expected '\]', found 'for'`, ``, "Go has no comprehensions: a loop appends, for _, x := range list { result = append(result, x) }"},
	{`^missing ',' in argument list`, `\bf"`, `fmt.Sprintf("x = %v", x) formats values`},
	{`^missing ',' in parameter list`, `\w\s*:\s*\w`, "the type follows the name without a colon: x int"},
	{`^unexpected '\{'`, `^type\s+\w+\s+class\b`, "a type is declared by type Name struct { }"},
	{`^missing ',' in parameter list`, `=`, "Go has no default values of parameters"},
	{`^expected selector or type assertion, found 'map'`, ``, "slices have no methods: loop with for i, x := range list { }"},
	{`^expected '\('`, `^func\s+\w+\s+\w+\s*\(`, "the type of the result follows the parameters: func f() int { }"},
	{`^expected type, found `, `\b(u?int\d*|float\d+|string|bool|byte|rune)\[\d*\]`, "a list has the type []int, an array [3]int"},
	{`^(expected operand, found '\]'|unexpected )`, `^(u?int\d*|float\d+|string|bool|byte|rune)\s*\[\d*\]\s*\w+`, "a list is written x := []int{1, 2, 3}"},
	{`^expected type, found '\{'`, `^type\s+\w+\s*\{`, "a type is declared by type Name struct { }"},
	{`^unexpected \w+ `, `\bnew\s+[\pL_]`, "a value is written T{ }, and its address &T{ }"},
	{`^unexpected ':='`, `:=.*:=`, "two statements assign twice"},
	{`^unexpected as `, `^import\b`, `a package gets another name by import f "fmt"`},
	{`'\?'$`, `\?[?.]`, "Go has no operators for nil, only if x != nil { }"},
	{`^illegal rune literal$`, `''`, `an empty string is written ""`},
	{`^expected statement, found ':'`, `^std::`, "fmt.Println(x) prints"},
	{`'#'$`, `^#(include|import)\b`, `a package is imported by import "name"`},
	{`found in$`, `^for\b`, "to loop over numbers, write for i := range 10 { }, over a list for i, x := range list { }"},
	{`'\?'$`, `\?.*:`, "Go has no ? : expression, only if and else"},
	{`'#'$`, `^#`, "a comment begins with //"},
	{`'\$'$`, `^\$`, "a shell command begins with !"},
	{`^unexpected '(\+\+|--)'|found '(\+\+|--)'$`, ``, "x++ is a statement and has no value"},
	{`^illegal rune literal$`, `'[^']{2,}'`, "a string has double quotes"},
	{`^(unexpected|expected operand, found) '(if|switch)'`, `=\s*(if|switch)\b`, "if is a statement and has no value"},
	{`^(missing import path|import path must be a string)`, `^import\s+\w`, `a package is imported by import "name"` + noImport},
	{`must be function call$`, `^go (get|install)\s`, "%get downloads a module, so that cells can import its packages, and !go runs the go command"},
	{`must be function call$`, `^go (run|test|mod|build|vet|fmt|tool|env|version|doc)(\s|$)`, "!go runs the go command"},
	{`^unexpected (and|or) `, ``, "conditions are joined by && and ||"},
	{`^unexpected `, `(=|\(|\b(if|and|or|return|for))\s*not\s+\w`, "a condition is negated by !"},
	{`^illegal label declaration$`, `:$`, "a block is in braces: if x { }"},
	{`^unexpected (then|\w+) `, `^if\b`, "a block is in braces: if x { }"},
	{`^unexpected '-'`, `->`, "the result follows the parameters without an arrow"},
	{`^expected '\{', found \w+$`, `^struct\s+\w`, "a type is declared by type Name struct { }"},
	{`^expected '\{', found [^';]`, `^for\b`, "a block is in braces: for condition { }"},
	{`^expected statement, found 'range'`, ``, "to loop over numbers, write for i := range 10 { }"},
	{`^expected type, found '\)'`, `\btype\(`, `fmt.Printf("%T", x) shows the type of a value`},
	{`must be function call$`, `^(go|defer)\s+[\pL_][\pL\d_.]*$|\bfunc\b|^$`, "a call ends in parentheses: f()"},
}

// otherLanguageHint returns the hint for an error in a line, or "".
func otherLanguageHint(line, msg string) string {
	line = strings.TrimLeft(line, " \t}")
	if hint := pythonImportHint(line); hint != "" {
		return hint
	}
	for _, p := range syntaxHints {
		if regexp.MustCompile(p.msg).MatchString(msg) && regexp.MustCompile(p.line).MatchString(line) {
			return p.hint
		}
	}
	first := word().FindString(line)
	if !strings.HasPrefix(line, first) {
		return ""
	}
	if rest := strings.TrimLeft(line[len(first):], " \t"); blockWords[first] && (strings.HasPrefix(rest, "{") || strings.HasPrefix(rest, "(")) {
		return keywordHints[first]
	}
	if !strings.HasPrefix(msg, unexpected) {
		return ""
	}
	if _, isType := types.Universe.Lookup(first).(*types.TypeName); isType {
		return "a variable is defined by var x " + first + ", or x := value"
	}
	if hint := keywordHints[first]; hint != "" {
		return hint
	}
	if keyword := misspelledKeyword(first); keyword != "" {
		return "did you mean " + keyword + "?"
	}
	return ""
}

// blockWords begin statements of other languages that the parser takes for a call or a composite literal.
var blockWords = map[string]bool{
	"while": true, "until": true, "foreach": true, "try": true, "catch": true, "except": true, "do": true, "unless": true, "repeat": true,
	"elif": true, "elseif": true,
}

// misspelledKeyword returns the keyword of Go that a word resembles, or "".
func misspelledKeyword(text string) string {
	if token.IsKeyword(text) {
		return ""
	}
	return closest(text, func(yield func(string) bool) {
		for t := token.BREAK; t <= token.VAR; t++ {
			if !yield(t.String()) {
				return
			}
		}
	})
}

// unexpected begins an error where the parser expected the end of a statement.
const unexpected = "unexpected "
