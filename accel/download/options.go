package download

import (
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// Option changes how [Get] and [Files] download.
type Option struct {
	text string
	set  func(*options) error
}

// String returns the option as a Go expression.
func (o Option) String() string { return o.text }

type options struct {
	sum     string // hexadecimal SHA-256 in lower case; "" if unknown
	check   func(io.Reader) error
	client  *http.Client
	header  http.Header
	stall   time.Duration
	maximum int64 // bytes; 0 for any size
}

// SHA256 is the hexadecimal SHA-256 of the file. A file that has it already is not downloaded
// again, another content is a [*ChecksumError].
func SHA256(sum string) Option {
	return Option{fmt.Sprintf("SHA256(%q)", sum), func(o *options) error {
		if b, err := hex.DecodeString(sum); err != nil || len(b) != 32 {
			return fmt.Errorf("SHA256(%q): want 64 hexadecimal digits", sum)
		}
		o.sum = strings.ToLower(sum)
		return nil
	}}
}

// Check is called with the content of a complete file before the file gets its name. If it returns
// an error, the content is removed and the download fails with that error.
func Check(check func(io.Reader) error) Option {
	return Option{"Check(f)", func(o *options) error { o.check = check; return nil }}
}

// Client is the client that sends the requests; the default is http.DefaultClient.
func Client(client *http.Client) Option {
	return Option{"Client(c)", func(o *options) error { o.client = client; return nil }}
}

// Header adds a field to the requests, for example of an account. Like net/http, it is not sent to
// another host that the server redirects to if it is a credential:
//
//	download.Header("Authorization", "Bearer "+os.Getenv("HF_TOKEN"))
func Header(name, value string) Option {
	return Option{fmt.Sprintf("Header(%q, …)", name), func(o *options) error { o.header.Set(name, value); return nil }}
}

// Stall is the longest time without data, after which a request fails. The default is a minute.
func Stall(longest time.Duration) Option {
	return Option{fmt.Sprintf("Stall(%v)", longest), func(o *options) error {
		if longest <= 0 {
			return fmt.Errorf("Stall(%v): want a positive duration", longest)
		}
		o.stall = longest
		return nil
	}}
}

// MaxSize is the largest size of the file in bytes; more is [ErrTooLarge].
func MaxSize(bytes int64) Option {
	return Option{fmt.Sprintf("MaxSize(%d)", bytes), func(o *options) error { o.maximum = bytes; return nil }}
}

func settings(list []Option) (*options, error) {
	o := &options{client: http.DefaultClient, header: http.Header{}, stall: time.Minute}
	for _, option := range list {
		if option.set == nil {
			continue
		}
		if err := option.set(o); err != nil {
			return nil, fmt.Errorf("download: %w", err)
		}
	}
	return o, nil
}
