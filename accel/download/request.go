package download

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/quernlab/quern/display"
)

// errRestart means that the bytes so far cannot be continued.
var errRestart = errors.New("the server does not continue the file")

// request asks for the bytes that are missing and appends them to p. It returns the SHA-256 that
// the server states, if it states one.
func (o *options) request(ctx context.Context, address string, p *part) (sum string, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watchdog := time.AfterFunc(o.stall, func() { cancel(fmt.Errorf("no data for %v", o.stall)) })
	defer watchdog.Stop()

	response, err := o.send(ctx, address, p)
	if err != nil {
		return "", cause(ctx, err)
	}
	defer response.Body.Close()
	if !o.verifies() && response.Request.URL.Scheme != "https" {
		return "", ErrInsecure
	}
	sum = statedSum(response)
	total, err := p.accept(response, address)
	if err != nil || total == p.size {
		return sum, err
	}
	if o.maximum > 0 && total > o.maximum {
		return "", fmt.Errorf("%w: it has %d bytes, at most %d are allowed", ErrTooLarge, total, o.maximum)
	}
	meter := display.NewMeter("downloading "+nameOf(address), max(float64(total)/1e6, 0))
	defer meter.End()
	buffer := make([]byte, 256<<10)
	for {
		n, err := response.Body.Read(buffer)
		if n > 0 {
			watchdog.Reset(o.stall)
			if o.maximum > 0 && p.size+int64(n) > o.maximum {
				return "", fmt.Errorf("%w: at most %d bytes are allowed", ErrTooLarge, o.maximum)
			}
			if _, err := p.Write(buffer[:n]); err != nil {
				return "", err
			}
			meter.Set(float64(p.size)/1e6, "MB")
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return "", cause(ctx, err)
		}
	}
	if total >= 0 && p.size != total {
		return "", fmt.Errorf("got %d of %d bytes: %w", p.size, total, io.ErrUnexpectedEOF)
	}
	return sum, nil
}

// send sends the request for the bytes after those of p.
func (o *options) send(ctx context.Context, address string, p *part) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	request.Header = o.header.Clone()
	request.Header.Set("Accept-Encoding", "identity") // the ranges are those of the file
	if p.size > 0 {
		request.Header.Set("Range", fmt.Sprintf("bytes=%d-", p.size))
		if p.Version != "" {
			request.Header.Set("If-Range", p.Version)
		}
	}
	return o.client.Do(request)
}

// accept prepares p for the body of a response. It returns the size of the whole file, -1 if it is
// unknown.
func (p *part) accept(response *http.Response, address string) (total int64, err error) {
	at := origin{identity(address), version(response)}
	switch response.StatusCode {
	case http.StatusOK:
		if err := p.restart(); err != nil {
			return 0, err
		}
		return response.ContentLength, p.belongsTo(at)
	case http.StatusPartialContent:
		from, total, ok := contentRange(response)
		if !ok || from != p.size || p.Version != "" && at.Version != "" && p.Version != at.Version {
			return 0, errRestart
		}
		p.joined = p.size > 0
		return total, p.resume()
	case http.StatusRequestedRangeNotSatisfiable:
		if _, total, _ := contentRange(response); total != p.size || p.size == 0 {
			return 0, errRestart
		}
		p.joined = true
		return p.size, p.resume() // nothing was missing
	}
	return 0, &StatusError{response.StatusCode, response.Status}
}

// version returns what identifies the content: the ETag if it is strong, else the time of the last
// modification.
func version(response *http.Response) string {
	if tag := response.Header.Get("ETag"); strings.HasPrefix(tag, `"`) {
		return tag
	}
	return response.Header.Get("Last-Modified")
}

var rangePattern = regexp.MustCompile(`^bytes (?:(\d+)-\d+|\*)/(\d+|\*)$`)

// contentRange returns the first byte of the body and the size of the whole file, -1 if unknown.
func contentRange(response *http.Response) (from, total int64, ok bool) {
	m := rangePattern.FindStringSubmatch(response.Header.Get("Content-Range"))
	if m == nil {
		return 0, -1, false
	}
	from, err := strconv.ParseInt(m[1], 10, 64)
	total, errTotal := strconv.ParseInt(m[2], 10, 64)
	if errTotal != nil {
		total = -1
	}
	return from, total, err == nil
}

var sumPattern = regexp.MustCompile(`^"?([0-9a-f]{64})"?$`)

// statedSum returns the SHA-256 of the file that the server states. Hugging Face sends it for large
// files in the response that redirects to their storage.
func statedSum(response *http.Response) string {
	for r := response; r != nil; r = r.Request.Response {
		if m := sumPattern.FindStringSubmatch(r.Header.Get("X-Linked-Etag")); m != nil {
			return m[1]
		}
	}
	return ""
}

// nameOf returns the last element of an address.
func nameOf(address string) string {
	if u, err := url.Parse(address); err == nil {
		address = u.Path
	}
	return address[strings.LastIndexByte(address, '/')+1:]
}

// cause returns the reason for which a context ended, if it did, otherwise the error.
func cause(ctx context.Context, err error) error {
	if reason := context.Cause(ctx); reason != nil {
		return reason
	}
	return err
}
