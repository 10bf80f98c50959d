package lsp

import (
	"cmp"
	"fmt"
	"net/url"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/quernlab/quern/interp/check"
)

// A document is a notebook, or a plain document with the cells of one.
type document struct {
	uri      string
	cells    []*text
	analysis *analysis // of the cells as they are; nil before it is needed
	stale    bool      // the client does not have the diagnostics yet
}

// A text is that of a cell, or a part of a plain document that is treated as one.
type text struct {
	uri     string
	content string
	ignored bool // not Go: Markdown, or a cell in another language
	mayFail bool // has errors that are shown on purpose
	first   int  // the line of the document at which it begins
}

// changed notes that the cells have changed.
func (d *document) changed() { d.analysis, d.stale = nil, true }

// dir returns the directory of a notebook, in which modules and files are looked for; "" if it has not been saved.
func (d *document) dir() string {
	u, err := url.Parse(d.uri)
	if err != nil || u.Scheme != "file" {
		return ""
	}
	path := u.Path
	if runtime.GOOS == "windows" {
		path = strings.TrimPrefix(path, "/") // of /c:/folder
	}
	// jupyterlab-lsp names its documents as if they were files in a folder of this name.
	return filepath.Dir(filepath.FromSlash(strings.Replace(path, "/.virtual_documents/", "/", 1)))
}

// find returns the cell with a position of a document, and the offset in it.
func (d *document) find(uri string, p position, encoding string) (cell, offset int, ok bool) {
	for i, c := range d.cells {
		if c.uri == uri && !c.ignored && (i+1 == len(d.cells) || d.cells[i+1].uri != uri || p.Line < d.cells[i+1].first) {
			p.Line -= c.first
			return i, offsetAt(c.content, p, encoding), p.Line >= 0
		}
	}
	return 0, 0, false
}

// place returns the range of the bytes from start to end of a cell.
func (t *text) place(start, end int, encoding string) textRange {
	r := textRange{positionAt(t.content, start, encoding), positionAt(t.content, end, encoding)}
	r.Start.Line += t.first
	r.End.Line += t.first
	return r
}

// plain returns the document for a text that is no notebook cell.
func plain(uri, content string) *document {
	d := &document{uri: uri}
	line := 0
	for _, part := range splitCells(content) {
		d.cells = append(d.cells, &text{uri: uri, content: part, first: line})
		line += strings.Count(part, "\n")
	}
	return d
}

// content returns the text of a plain document.
func (d *document) content() string {
	var b strings.Builder
	for _, c := range d.cells {
		b.WriteString(c.content)
	}
	return b.String()
}

// splitCells splits a document after two or more blank lines outside of brackets and raw strings.
func splitCells(content string) (cells []string) {
	spans, _ := check.Spans(content)
	begin := 0
	for i := 0; i < len(content); {
		end := lineEnd(content, i)
		blank := 0
		for end < len(content) && strings.TrimSpace(content[end:lineEnd(content, end)]) == "" {
			end = lineEnd(content, end)
			blank++
		}
		inside := slices.ContainsFunc(spans, func(s check.Span) bool { return s.Start < end && end < s.End })
		if blank >= 2 && !inside && end < len(content) {
			cells = append(cells, content[begin:end])
			begin = end
		}
		i = end
	}
	return append(cells, content[begin:])
}

// lineEnd returns the offset after the line that begins at offset.
func lineEnd(s string, offset int) int {
	if n := strings.IndexByte(s[offset:], '\n'); n >= 0 {
		return offset + n + 1
	}
	return len(s)
}

// changed returns a text after changes of the client.
func changed(content string, changes []contentChange, encoding string) (string, error) {
	for _, c := range changes {
		if c.Range == nil {
			content = c.Text
			continue
		}
		start, end := offsetAt(content, c.Range.Start, encoding), offsetAt(content, c.Range.End, encoding)
		if end < start {
			return content, fmt.Errorf("the range of a change ends before it begins: %v", *c.Range)
		}
		content = content[:start] + c.Text + content[end:]
	}
	return content, nil
}

// utf8Encoding counts bytes in positions; utf16Encoding, which all clients know, code units.
const (
	utf8Encoding  = "utf-8"
	utf16Encoding = "utf-16"
)

// offsetAt returns the offset of a position. One behind the end of a line is its end, as the protocol has it.
func offsetAt(content string, p position, encoding string) int {
	offset := 0
	for range p.Line {
		next := lineEnd(content, offset)
		if next == len(content) && !strings.HasSuffix(content[offset:], "\n") {
			return len(content)
		}
		offset = next
	}
	line := strings.TrimRight(content[offset:lineEnd(content, offset)], "\r\n")
	if encoding == utf8Encoding {
		return offset + min(p.Character, len(line))
	}
	units := 0
	for i, r := range line {
		if units >= p.Character {
			return offset + i
		}
		units += codeUnits(r)
	}
	return offset + len(line)
}

// positionAt returns the position of an offset.
func positionAt(content string, offset int, encoding string) position {
	offset = min(max(offset, 0), len(content))
	before := content[:offset]
	begin := strings.LastIndexByte(before, '\n') + 1
	p := position{Line: strings.Count(before, "\n")}
	if encoding == utf8Encoding {
		p.Character = offset - begin
		return p
	}
	for _, r := range before[begin:] {
		p.Character += codeUnits(r)
	}
	return p
}

// codeUnits returns the number of UTF-16 code units of a character.
func codeUnits(r rune) int {
	if r > 0xffff && r <= utf8.MaxRune {
		return 2
	}
	return 1
}

// offsetOf returns the offset of a line and a column in bytes, both from 1.
func offsetOf(content string, line, column int) int {
	return offsetAt(content, position{line - 1, column - 1}, utf8Encoding)
}

// notebook returns the document of a notebook.
func notebook(p *didOpenNotebook) *document {
	d := &document{uri: p.NotebookDocument.URI}
	d.insert(0, p.NotebookDocument.Cells, p.CellTextDocuments)
	return d
}

// insert adds cells to a notebook.
func (d *document) insert(at int, cells []notebookCell, texts []textDocument) {
	var added []*text
	for _, c := range cells {
		t := &text{uri: c.Document, ignored: c.Kind != codeCell}
		t.setTags(c)
		for _, known := range d.cells { // moved
			if known.uri == c.Document {
				t.content, t.ignored = known.content, known.ignored
			}
		}
		added = append(added, t)
	}
	at = min(at, len(d.cells))
	d.cells = slices.Insert(d.cells, at, added...)
	for _, t := range texts {
		for _, c := range d.cells {
			if c.uri == t.URI {
				c.content = t.Text
				c.ignored = c.ignored || cmp.Or(t.LanguageID, "go") != "go"
			}
		}
	}
}

// setTags notes which errors are intended.
func (t *text) setTags(c notebookCell) {
	t.mayFail = slices.Contains(append(c.Metadata.Tags, c.Metadata.Metadata.Tags...), "raises-exception")
}

// change applies a change of a notebook.
func (d *document) change(p *didChangeNotebook, encoding string) (err error) {
	cells := p.Change.Cells
	if s := cells.Structure; s != nil {
		begin := min(s.Array.Start, len(d.cells))
		end := min(begin+s.Array.DeleteCount, len(d.cells))
		d.insert(end, s.Array.Cells, s.DidOpen)
		d.cells = slices.Delete(d.cells, begin, end)
	}
	for _, data := range cells.Data {
		for _, c := range d.cells {
			if c.uri == data.Document {
				c.setTags(data)
			}
		}
	}
	for _, t := range cells.TextContent {
		for _, c := range d.cells {
			if c.uri == t.Document.URI {
				if c.content, err = changed(c.content, t.Changes, encoding); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
