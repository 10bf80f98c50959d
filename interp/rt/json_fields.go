package rt

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
	"unicode"
)

// jsonField is a member of the JSON object that represents a struct.
type jsonField struct {
	name      string
	tagged    bool  // name comes from the tag
	index     []int // field indices, from the outermost struct
	typ       view  // type of the field
	omitEmpty bool
	omitZero  bool
	quoted    bool // the option "string"
	strict    bool // the option "case:strict"
}

// jsonStruct has the members of the JSON object for a struct type, or the reason why it has none.
type jsonStruct struct {
	fields  []jsonField
	invalid error
}

// jsonFields returns the members of the JSON object for the struct type w, in the order
// of declaration. Fields of embedded structs count as fields of the struct. If several
// fields have one name, the shallowest wins; among equally deep fields the one whose
// name comes from its tag wins; if that leaves several, there is no such member.
func (r *Registry) jsonFields(w view) ([]jsonField, error) {
	if known, ok := r.fields.Load(w); ok {
		s := known.(jsonStruct)
		return s.fields, s.invalid
	}
	found, invalid := collectJSONFields(w)
	slices.SortFunc(found, func(a, b jsonField) int {
		return cmp.Or(
			strings.Compare(a.name, b.name),
			cmp.Compare(len(a.index), len(b.index)),
			boolToInt(b.tagged)-boolToInt(a.tagged),
			slices.Compare(a.index, b.index),
		)
	})
	var fields []jsonField
	for len(found) > 0 {
		n := 1
		for n < len(found) && found[n].name == found[0].name {
			n++
		}
		if n == 1 || len(found[0].index) != len(found[1].index) || found[0].tagged != found[1].tagged {
			fields = append(fields, found[0])
		}
		found = found[n:]
	}
	slices.SortFunc(fields, func(a, b jsonField) int { return slices.Compare(a.index, b.index) })
	r.fields.Store(w, jsonStruct{fields, invalid})
	return fields, invalid
}

// embeddedStruct is a struct with promoted fields.
type embeddedStruct struct {
	typ   view
	index []int
}

// collectJSONFields returns the fields level by level. For a struct type that is
// embedded twice at one level it returns each field twice, so that the two conflict.
func collectJSONFields(w view) (found []jsonField, invalid error) {
	seen := map[view]bool{}
	times := map[view]int{w: 1}
	for level := []embeddedStruct{{typ: w}}; len(level) > 0; {
		var below []embeddedStruct
		timesBelow := map[view]int{}
		for _, s := range level {
			if seen[s.typ] {
				continue
			}
			seen[s.typ] = true
			for i := range s.typ.t.NumField() {
				f, embedded, ok, err := jsonFieldOf(s, i)
				if invalid == nil {
					invalid = err
				}
				switch {
				case !ok:
				case embedded:
					if timesBelow[f.typ]++; timesBelow[f.typ] == 1 {
						below = append(below, embeddedStruct{f.typ, f.index})
					}
				default:
					found = append(found, f)
					if times[s.typ] > 1 {
						found = append(found, f)
					}
				}
			}
		}
		level, times = below, timesBelow
	}
	return found, invalid
}

// jsonFieldOf returns field i of a struct. ok is false if JSON ignores the field. If
// embedded, the field is an embedded struct whose own fields are promoted.
func jsonFieldOf(s embeddedStruct, i int) (f jsonField, embedded, ok bool, err error) {
	if jsonV2 {
		return jsonFieldOf2(s, i)
	}
	declared, typ := s.typ.field(i)
	if !declared.exported {
		base := typ
		if base.kind() == reflect.Pointer {
			base = base.elem()
		}
		if !declared.embedded || base.kind() != reflect.Struct {
			return f, false, false, nil
		}
	}
	tag := declared.tag.Get("json")
	if tag == "-" {
		return f, false, false, nil
	}
	name, options, _ := strings.Cut(tag, ",")
	if !validJSONName(name) {
		name = ""
	}
	base := typ
	if base.kind() == reflect.Pointer && !base.named() {
		base = base.elem()
	}
	index := append(slices.Clone(s.index), i)
	if name == "" && declared.embedded && base.kind() == reflect.Struct {
		return jsonField{typ: base, index: index}, true, true, nil
	}
	f = jsonField{name: cmp.Or(name, declared.name), tagged: name != "", index: index, typ: typ}
	for option := range strings.SplitSeq(options, ",") {
		switch option {
		case "omitempty":
			f.omitEmpty = true
		case "omitzero":
			f.omitZero = true
		case "string":
			f.quoted = stringable(base.kind())
		}
	}
	return f, false, true, nil
}

// validJSONName reports whether encoding/json accepts a name in a tag: it may contain
// letters, digits and most punctuation, but no quotes, backslashes and commas.
func validJSONName(s string) bool {
	for _, c := range s {
		if !strings.ContainsRune("!#$%&()*+-./:;<=>?@[]^_{|}~ ", c) && !unicode.IsLetter(c) && !unicode.IsDigit(c) {
			return false
		}
	}
	return s != ""
}
