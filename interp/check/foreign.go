package check

import (
	"go/types"
	"regexp"
	"strings"
)

// What other languages write where Go has something else. A hint follows the error
// of the parser, which stays: the line may be no more than a slip.

// foreignWords are hints by the word that a line begins with.
var foreignWords = map[string]string{
	"while": "Go has one loop, for condition { }", "until": "Go has one loop, for condition { }", "do": "Go has one loop, for condition { }",
	"foreach": "a loop over a list is for i, x := range list { }",
	"def":     "a function is func name(x int) int { }", "function": "a function is func name(x int) int { }",
	"fn": "a function is func name(x int) int { }", "fun": "a function is func name(x int) int { }",
	"lambda": "a function without a name is func(x int) int { return x }",
	"let":    "a variable is defined by x := value", "val": "a variable is defined by x := value", "auto": "a variable is defined by x := value",
	"float": "a variable is defined by x := value", "double": "a variable is defined by x := value", "char": "a variable is defined by x := value",
	"class": "a type is type Name struct { }, its methods are functions beside it",
	"try":   "Go has no exceptions: a function returns an error", "except": "Go has no exceptions: a function returns an error",
	"catch": "Go has no exceptions: a function returns an error", "raise": "Go has no exceptions: a function returns an error",
	"throw":  "Go has no exceptions: a function returns an error",
	"unless": "a condition is negated by !, if !condition { }",
	"enum":   "numbered constants are const ( A = iota; B )", "interface": "a type is type Name interface { }",
	"async": "go f() runs a function beside the others", "await": "go f() runs a function beside the others",
	"public": "a name that begins with a capital is public", "private": "a name that begins with a small letter is private",
	"using": `a package is imported by import "name"`, "require": `a package is imported by import "name"`,
	"pip": "%get makes the packages of a module importable", "conda": "%get makes the packages of a module importable",
	"cd": "a command of the shell begins with !, and %cd changes the directory", "git": "a command of the shell begins with !", "cat": "a command of the shell begins with !",
	"mkdir": "a command of the shell begins with !", "rm": "a command of the shell begins with !", "ls": "a command of the shell begins with !", "apt": "a command of the shell begins with !",
	"elif": "Go has else if", "elseif": "Go has else if",
	"print": "a call has brackets, fmt.Println(x)", "echo": "fmt.Println(x) prints",
	"from": `a package is imported by import "name"`,
}

// foreignParts are hints by what the parser says, and what the line is like.
var foreignParts = []struct{ msg, line, hint string }{
	{`found in$`, `^for\b`, "a loop over numbers is for i := range 10 { }, over a list for i, x := range list { }"},
	{`'\?'$`, `\?.*:`, "Go has no ? : expression, only if and else"},
	{`'#'$`, `^#`, "a comment begins with //"},
	{`^unexpected '(\+\+|--)'|found '(\+\+|--)'$`, ``, "x++ is a statement, without a value"},
	{`^illegal rune literal$`, `'[^']{2,}'`, "a string has double quotes"},
	{`^(unexpected|expected operand, found) '(if|switch)'`, `=\s*(if|switch)\b`, "an if has no value"},
	{`^(missing import path|import path must be a string)`, `^import\s+\w`, `a package is imported by import "name"`},
	{`must be function call$`, `^go (get|install)\s`, "%get makes the packages of a module importable, and !go runs the go command"},
	{`must be function call$`, `^go (run|test|mod|build|vet|fmt|tool|env|version|doc)(\s|$)`, "!go runs the go command"},
	{`^unexpected (and|or) `, ``, "conditions are joined by && and ||"},
	{`^unexpected `, `(=|\(|\b(if|and|or|return|for))\s*not\s+\w`, "a condition is negated by !"},
	{`^illegal label declaration$`, `:$`, "a block is in braces: if x { }"},
	{`^unexpected (then|\w+) `, `^if\b`, "a block is in braces: if x { }"},
	{`^unexpected '-'`, `->`, "the result follows the parameters without an arrow"},
	{`^expected '\{', found \w+$`, `^struct\s+\w`, "a type is type Name struct { }"},
	{`^expected statement, found 'range'`, ``, "a loop over numbers is for i := range 10 { }"},
	{`^expected type, found '\)'`, `\btype\(`, `fmt.Printf("%T", x) shows the type of a value`},
	{`must be function call$`, `^(go|defer)\s+[\pL_][\pL\d_.]*$|\bfunc\b|^$`, "a function is called by the () behind it"},
}

// foreign returns the hint for an error in a line, "" if there is none.
func foreign(line, msg string) string {
	line = strings.TrimLeft(line, " \t}")
	for _, p := range foreignParts {
		if regexp.MustCompile(p.msg).MatchString(msg) && regexp.MustCompile(p.line).MatchString(line) {
			return p.hint
		}
	}
	if !strings.HasPrefix(msg, unexpected) {
		return ""
	}
	first := word.FindString(line)
	if !strings.HasPrefix(line, first) {
		return ""
	}
	if _, isType := types.Universe.Lookup(first).(*types.TypeName); isType {
		return "a variable is defined by var x " + first + ", or x := value"
	}
	return foreignWords[first]
}

// unexpected begins what is said where the parser wants a statement to end.
const unexpected = "unexpected "
