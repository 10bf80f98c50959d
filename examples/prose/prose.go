// Package prose counts the words of texts. It is an ordinary module: the notebook beside it,
// explore.ipynb, imports it without a command.
package prose

import (
	_ "embed"
	"strings"
	"unicode"

	"example.com/prose/internal/count"
)

// Gettysburg is the address of Abraham Lincoln at Gettysburg, 19 November 1863.
//
//go:embed gettysburg.txt
var Gettysburg string

// Words returns the words of a text in lower case, without punctuation.
func Words(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) })
}

// Frequency is how often a word occurs.
type Frequency = count.Of[string]

// Frequencies returns the words of a text with their counts, the most frequent first, and words of
// the same frequency in alphabetical order.
func Frequencies(text string) []Frequency {
	return count.All(Words(text))
}
