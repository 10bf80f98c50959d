package frame

import (
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestParseDateEqualsTime compares the last days of all months with package time.
func TestParseDateEqualsTime(t *testing.T) {
	t.Parallel()
	for month := time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC); month.Year() < 10_000; month = month.AddDate(0, 1, 0) {
		for day := range 5 {
			text := month.Format("2006-01-") + strconv.Itoa(27+day)
			want, err := time.Parse(time.DateOnly, text)
			if got, ok := parseDate([]byte(text)); ok != (err == nil) || ok && got != want {
				t.Fatalf("%s is %v, %v; want %v, %v", text, got, ok, want, err)
			}
		}
	}
}

// TestParseFloatEqualsStrconv compares numbers of up to 21 digits, many of which lie between two floats.
func TestParseFloatEqualsStrconv(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	texts := []string{"9007199254740993.0", "9007199254740992.5", "18446744073709551615.0", "9999999999999999999.0", "0.0000000000000000000", ".5", "5.", "-0.0", "0.9999999999999999999"}
	for range 100_000 {
		x := math.Ldexp(random.Float64(), random.IntN(64))
		digits := strconv.FormatFloat(x, 'f', 1+random.IntN(20), 64)
		texts = append(texts, digits[:min(len(digits), 2+random.IntN(21))])
		half := strconv.FormatFloat(math.Ldexp(float64(1<<52+random.Uint64N(1<<52))+0.5, -random.IntN(3)), 'f', -1, 64)
		texts = append(texts, half, "-"+half+"000")
	}
	for _, text := range texts {
		if !strings.Contains(text, ".") {
			continue // parseInt decides
		}
		want, err := strconv.ParseFloat(text, 64)
		got, ok := parseFloat([]byte(text))
		if !ok || err != nil || got != want || math.Signbit(got) != math.Signbit(want) {
			t.Fatalf("%s is %v, %v; want %v, %v", text, got, ok, want, err)
		}
	}
}

// TestParseNumbers compares with strconv which texts are numbers, whatever follows them in memory.
func TestParseNumbers(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	decimal := regexp.MustCompile(`^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$`)
	whole := regexp.MustCompile(`^[+-]?[0-9]+$`)
	texts := []string{".", "-.", "+.", "-", "+", "e", "1e", ".e1", "-0", "0", "00", "-00", "01.5", "1.2.3", "12345678", "1234567.", "12345678.", "12345678.5",
		"1700000000.123456", "0.00012345678901234567", "123456789012345678", "999999999999999999", "1234567890123456789", "9223372036854775807",
		"9223372036854775808", "-9223372036854775808", "0x1p4", "1_0", "1\x005", "1\xb05", "\xb1", "/", ":", "1:", "1/5.0"}
	for range 200_000 {
		text := make([]byte, 1+random.IntN(24))
		for i := range text {
			text[i] = "00123456789123456789"[random.IntN(20)]
		}
		for range random.IntN(3) {
			text[random.IntN(len(text))] = "...-+eE/:\xb5"[random.IntN(10)]
		}
		texts = append(texts, string(text))
	}
	for _, text := range texts {
		wantInt, err := strconv.Atoi(text)
		isInt := err == nil && strconv.Itoa(wantInt) == text
		wantFloat, err := strconv.ParseFloat(text, 64)
		isFloat := err == nil && decimal.MatchString(text) && (!whole.MatchString(text) || isInt || text == "-0")
		for _, after := range []string{"", "9999999999", ".5,\xff\n123"} {
			b := []byte(text + after)[:len(text)]
			if after == "" {
				b = b[:len(b):len(b)]
			}
			if got, ok := parseInt(b); ok != isInt || ok && got != wantInt {
				t.Fatalf("%q before %q is %d, %v; want %d, %v", text, after, got, ok, wantInt, isInt)
			}
			if got, ok := parseFloat(b); ok != isFloat || ok && (got != wantFloat || math.Signbit(got) != math.Signbit(wantFloat)) {
				t.Fatalf("%q before %q is %v, %v; want %v, %v", text, after, got, ok, wantFloat, isFloat)
			}
		}
	}
}

// TestSpecialsFindsEachByte compares with a loop, from several offsets of data of several lengths.
func TestSpecialsFindsEachByte(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	var s specials
	for length := range 400 {
		data := make([]byte, length)
		for i := range data {
			data[i] = ",\"\n-\xac\xa2\x8a\x00\r~"[random.IntN(10)]
		}
		s.search(data, ',')
		for i := 0; i <= length; i += 1 + random.IntN(90) {
			s.seek(i)
			for range random.IntN(20) {
				want := i
				for want < length && !strings.ContainsRune(",\"\n", rune(data[want])) {
					want++
				}
				if got := s.find(); got != want {
					t.Fatalf("in %q from %d: %d, want %d", data, i, got, want)
				}
				if i = want + 1; i > length {
					break
				}
			}
		}
	}
}

// TestSpecialsOfAllBytes compares the search of this CPU with the generic one, for all bytes and separators, and with a loop.
func TestSpecialsOfAllBytes(t *testing.T) {
	t.Parallel()
	var data [1024]byte
	for i := range data {
		data[i] = byte(i * 7)
	}
	var got, want [len(data)/64 + 1]uint64
	for separator := range byte(0x80) {
		findSpecials(got[:], data[:], separator)
		specialsGeneric(want[:], data[:], separator)
		if got != want {
			t.Fatalf("separator %q: %x, want %x", separator, got, want)
		}
		for i, b := range data {
			if special := b == separator || b == '"' || b == '\n'; special != (got[i/64]>>(i%64)&1 == 1) {
				t.Fatalf("separator %q: byte %q is special: %v", separator, b, !special)
			}
		}
	}
}

// TestAllSpecials compares with the search for one after the other, for few and for many in 64 bytes.
func TestAllSpecials(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	var s specials
	for length := range 2000 {
		data := make([]byte, length)
		for i := range data {
			if data[i] = 'x'; random.IntN(64) < i/32%64 {
				data[i] = ','
			}
		}
		s.search(data, ',')
		want := []uint32{7}
		for at := -1; at < length; want = append(want, uint32(at)) {
			at = s.find()
		}
		if got := s.all([]uint32{7}); !slices.Equal(got, want) {
			t.Fatalf("in %q: %d, want %d", data, got, want)
		}
	}
}

// TestChunks divides files into chunks of a few bytes, of which many begin within one record. Each byte may be read only a
// few times: 4 Mi chunks that look for the end of the file would take hours.
func TestChunks(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x\ny,", 1<<20)
	for _, test := range []struct {
		name, file string
		want       string // the records at the start of the first chunks
	}{
		{"short records", "a,b\nc,d\ne,f\n", "a,b|c,d|e,f"},
		{"an open quotation mark", "a,b\n\"" + long, "a,b"},
		{"an open quotation mark after others", "a,b\n\"c\",d\n\"" + long, `a,b|"c",d`},
		{"a long field", "a,b\n\"" + long + "\",c\nd,e\nf,g\nh,i\n", "a,b|d,e|f,g|h,i"},
		{"one record", strings.ReplaceAll(long, "\n", ","), strings.ReplaceAll(long, "\n", ",")},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			bounds, most := chunks([]byte(test.file), 0, 3)
			for k, n := range most {
				chunk := test.file[bounds[k]:bounds[k+1]]
				if n != strings.Count(chunk, "\n") && n != strings.Count(chunk, "\n")+1 {
					t.Fatalf("chunk %d has up to %d records", k, n)
				}
			}
			var starts []string
			for _, b := range bounds[:len(bounds)-1] {
				line, _, _ := strings.Cut(test.file[b:], "\n")
				if !strings.HasPrefix(line, `"x`) {
					starts = append(starts, line)
				}
			}
			if got := strings.Join(starts, "|"); got != test.want || bounds[len(bounds)-1] != len(test.file) {
				t.Errorf("chunks of %.200q begin with %.200q, want %.200q", test.file, got, test.want)
			}
		})
	}
}
