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
	"throw": "Go has no exceptions: a function returns an error",
	"elif":  "Go has else if", "elseif": "Go has else if",
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
	{`must be function call$`, `^(go|defer)\s+[\pL_][\pL\d_.]*$|\bfunc\b|^$`, "a function is called by the () behind it"},
}

// foreign is the hint for an error in a line, "" if there is none.
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
