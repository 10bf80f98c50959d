package early

// fields returns the strings and integers of a JSON object and ignores booleans and null.
// It exists because encoding/json is initialized late. It fails, with ok false, on
// anything that connection files do not contain: nested values and invalid JSON. Strings
// with escapes are ignored.
func fields(text []byte) (strings map[string]string, numbers map[string]int, ok bool) {
	s := scanner{text: text}
	strings, numbers = map[string]string{}, map[string]int{}
	if !s.take('{') {
		return nil, nil, false
	}
	for first := true; !s.take('}'); first = false {
		if !first && !s.take(',') {
			return nil, nil, false
		}
		name, plain := s.string()
		if !plain || !s.take(':') {
			return nil, nil, false
		}
		delete(strings, name) // the last value of a name counts
		delete(numbers, name)
		switch c := s.peek(); {
		case c == '"':
			value, plain := s.string()
			if s.bad {
				return nil, nil, false
			}
			if plain {
				strings[name] = value
			}
		case c >= '0' && c <= '9':
			if value, whole := s.number(); whole {
				numbers[name] = value
			} else {
				return nil, nil, false
			}
		case !s.word("true") && !s.word("false") && !s.word("null"):
			return nil, nil, false
		}
	}
	s.peek()
	return strings, numbers, s.at == len(text)
}

// scanner reads JSON from a text.
type scanner struct {
	text []byte
	at   int
	bad  bool // a string is not terminated
}

// peek returns the next byte that is not a space, or 0.
func (s *scanner) peek() byte {
	for ; s.at < len(s.text); s.at++ {
		switch c := s.text[s.at]; c {
		case ' ', '\t', '\r', '\n':
		default:
			return c
		}
	}
	return 0
}

func (s *scanner) take(c byte) bool {
	if s.peek() != c {
		return false
	}
	s.at++
	return true
}

// string reads a string. plain is true if it has no escapes.
func (s *scanner) string() (value string, plain bool) {
	if !s.take('"') {
		s.bad = true
		return "", false
	}
	plain = true
	for start := s.at; s.at < len(s.text); s.at++ {
		switch c := s.text[s.at]; {
		case c == '"':
			s.at++
			return string(s.text[start : s.at-1]), plain
		case c == '\\':
			plain = false
			s.at++
		case c < ' ':
			s.bad = true
			return "", false
		}
	}
	s.bad = true
	return "", false
}

// number reads a number. whole is false if it has a sign, fraction or exponent.
func (s *scanner) number() (value int, whole bool) {
	start := s.at
	for ; s.at < len(s.text) && s.text[s.at] >= '0' && s.text[s.at] <= '9'; s.at++ {
		if value = 10*value + int(s.text[s.at]-'0'); value > 1<<30 {
			return 0, false
		}
	}
	if s.at < len(s.text) {
		switch s.text[s.at] {
		case '.', 'e', 'E':
			return 0, false
		}
	}
	return value, s.at == start+1 || s.text[start] != '0'
}

func (s *scanner) word(text string) bool {
	if s.at+len(text) > len(s.text) || string(s.text[s.at:s.at+len(text)]) != text {
		return false
	}
	s.at += len(text)
	return true
}
