package labeling

import (
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/quernlab/quern/accel/active"
)

// maxKeys is the number of classes that have a key.
const maxKeys = 9

// keysOf returns the keys of the first classes: the names of the classes if they are digits, else 1 to 9.
func keysOf(classes []string) []string {
	digit := func(name string) bool { return len(name) == 1 && name[0] >= '0' && name[0] <= '9' }
	if !slices.ContainsFunc(classes, func(name string) bool { return !digit(name) }) {
		return classes
	}
	keys := make([]string, min(len(classes), maxKeys))
	for k := range keys {
		keys[k] = strconv.Itoa(k + 1)
	}
	return keys
}

// typed answers with the last character of the field, and clears the field for the next one.
func (p *Panel) typed(text string, keys []string) {
	if text == "" {
		return
	}
	p.keys.SetValue("")
	last, _ := utf8.DecodeLastRuneInString(text)
	switch key := string(last); key {
	case "s":
		p.clicked(answer{err: active.ErrSkip})
	case "u":
		p.clicked(answer{err: active.ErrUndo})
	default:
		if k := slices.Index(keys, key); k >= 0 {
			p.clicked(answer{class: k})
		}
	}
}
