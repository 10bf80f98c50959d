package submit

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/quernlab/quern/kernel/notebook"
)

// Lines of a log that contain the executed notebook begin with this.
const resultPrefix = "quern-result "

// The length of such a line; logs divide longer ones.
const resultLine = 4000

// resultEnd is the last line of a result.
type resultEnd struct {
	Lines  int    `json:"lines"`
	SHA256 string `json:"sha256"` // of the notebook
	Failed string `json:"failed,omitempty"`
	// Stopped reports that a signal has ended the run, as when its machine is needed for other work. The
	// engine may start it again.
	Stopped bool `json:"stopped,omitempty"`
}

// WriteResult prints an executed notebook, compressed, why it failed or nil, and whether a signal has ended it, so that [Engine].Run finds
// them in the log.
func WriteResult(w io.Writer, executed []byte, failed error, stopped bool) error {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write(executed); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	text := base64.StdEncoding.EncodeToString(packed.Bytes())
	var log bytes.Buffer
	log.WriteByte('\n') // the last line may not have ended
	sum := sha256.Sum256(executed)
	end := resultEnd{SHA256: hex.EncodeToString(sum[:]), Stopped: stopped}
	for ; text != ""; end.Lines++ {
		n := min(len(text), resultLine)
		fmt.Fprintf(&log, "%s%d %s\n", resultPrefix, end.Lines, text[:n])
		text = text[n:]
	}
	if failed != nil {
		end.Failed = failed.Error()
	}
	last, err := json.Marshal(end)
	if err != nil {
		return err
	}
	fmt.Fprintf(&log, "%send %s\n", resultPrefix, last)
	_, err = w.Write(log.Bytes())
	return err
}

// resultReader copies a log without the lines of a result.
type resultReader struct {
	log   io.Writer
	rest  []byte // a line that has not ended
	skip  int    // lines that are already copied
	lines int    // so far
	parts map[int]string
	end   *resultEnd
	err   error // of the last line
}

// again expects the same log from its beginning, as after a lost connection.
func (r *resultReader) again() {
	r.skip, r.lines, r.rest = max(r.skip, r.lines), 0, nil
}

// anotherLog expects the log of another process.
func (r *resultReader) anotherLog() { *r = resultReader{log: r.log} }

// Write implements io.Writer.
func (r *resultReader) Write(p []byte) (int, error) {
	r.rest = append(r.rest, p...)
	for {
		line, rest, ok := bytes.Cut(r.rest, []byte("\n"))
		if !ok {
			return len(p), nil
		}
		r.rest = rest
		r.lines++
		if err := r.line(string(line)); err != nil {
			return 0, err
		}
	}
}

func (r *resultReader) line(line string) error {
	if text, isResult := strings.CutPrefix(strings.TrimSuffix(line, "\r"), resultPrefix); isResult {
		r.part(text)
		return nil
	}
	if r.lines <= r.skip {
		return nil
	}
	_, err := io.WriteString(r.log, line+"\n")
	return err
}

func (r *resultReader) part(text string) {
	number, content, _ := strings.Cut(text, " ")
	if number == "end" {
		end := &resultEnd{}
		if r.err = json.Unmarshal([]byte(content), end); r.err == nil {
			r.end = end
		}
		return
	}
	var n int
	if _, err := fmt.Sscanf(number, "%d", &n); err == nil {
		if r.parts == nil {
			r.parts = map[int]string{}
		}
		r.parts[n] = content
	}
}

// ended reports whether the log contains the end of a result, and not of a run that was stopped.
func (r *resultReader) ended() bool { return r.end != nil && !r.end.Stopped }

// errNoResult is the error of a log that ends before the result.
var errNoResult = errors.New("the log of rank 0 ended without the executed notebook: the rank was killed, or does not run quern run --log-notebook")

// save writes the executed notebook to a file. The error is a [*CellError] if the notebook failed.
func (r *resultReader) save(path string) error {
	if r.end == nil {
		return errors.Join(errNoResult, r.err)
	}
	var lines strings.Builder
	for i := range r.end.Lines {
		lines.WriteString(r.parts[i])
	}
	packed, err := base64.StdEncoding.DecodeString(lines.String())
	var text []byte
	if err == nil {
		var z *gzip.Reader
		if z, err = gzip.NewReader(bytes.NewReader(packed)); err == nil {
			text, err = io.ReadAll(z)
		}
	}
	sum := sha256.Sum256(text)
	if err == nil && hex.EncodeToString(sum[:]) != r.end.SHA256 {
		err = errors.New("its checksum differs")
	}
	if err != nil {
		err = fmt.Errorf("the executed notebook in the log is damaged, as if the log had lost lines: %w", err)
	} else if err = notebook.WriteText(path, text); err != nil {
		err = fmt.Errorf("write the executed notebook: %w", err)
	}
	if r.end.Failed != "" {
		err = errors.Join(&CellError{r.end.Failed}, err)
	}
	return err
}
