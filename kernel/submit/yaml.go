package submit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// object is an object of a manifest. In a manifest, keys are in alphabetical order.
type object = map[string]any

// list is a list of a manifest.
type list = []any

// plain are the strings that YAML reads as strings without quotes.
var plain = regexp.MustCompile(`^[A-Za-z/][A-Za-z0-9._/-]*(:[A-Za-z0-9._/-]+)*$`)

// words are those that YAML 1.1 does not read as strings.
var words = []string{"y", "yes", "n", "no", "true", "false", "on", "off", "null"}

// yaml writes objects as documents of YAML.
func yaml(documents ...object) string {
	var b strings.Builder
	for i, d := range documents {
		if i > 0 {
			b.WriteString("---\n")
		}
		writeObject(&b, d, "")
	}
	return b.String()
}

func writeObject(b *strings.Builder, o object, indent string) {
	for _, key := range slices.Sorted(maps.Keys(o)) {
		fmt.Fprintf(b, "%s%s:", indent, scalar(key))
		writeValue(b, o[key], indent+"  ", indent)
	}
}

// writeValue writes a value behind a key or a dash. Lists are indented less than objects, as kubectl prints them.
func writeValue(b *strings.Builder, v any, indent, listIndent string) {
	switch v := v.(type) {
	case object:
		if len(v) == 0 {
			b.WriteString(" {}\n")
			return
		}
		b.WriteByte('\n')
		writeObject(b, v, indent)
	case list:
		b.WriteByte('\n')
		for _, e := range v {
			b.WriteString(listIndent + "-")
			if o, isObject := e.(object); isObject && len(o) > 0 { // the first key is behind the dash
				var inner strings.Builder
				writeObject(&inner, o, listIndent+"  ")
				b.WriteString(" " + strings.TrimPrefix(inner.String(), listIndent+"  "))
				continue
			}
			writeValue(b, e, listIndent+"  ", listIndent+"  ")
		}
	default:
		b.WriteString(" " + scalar(v) + "\n")
	}
}

// scalar returns a string, number or boolean. Every JSON string is also one of YAML.
func scalar(v any) string {
	s, isString := v.(string)
	if !isString {
		return fmt.Sprint(v)
	}
	if plain.MatchString(s) && !slices.Contains(words, strings.ToLower(s)) {
		return s
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // of a string cannot fail
	return strings.TrimSuffix(b.String(), "\n")
}
