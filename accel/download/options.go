package download

import (
	"encoding/hex"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/quernlab/quern/accel/internal/training/option"
)

// Option changes how [Get] and [Files] download.
type Option struct{ setting }

type setting = option.Of[options]

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
	b, err := hex.DecodeString(sum)
	return Option{option.New(func(o *options) { o.sum = strings.ToLower(sum) }, "SHA256", sum).
		Require(err == nil && len(b) == 32, "want 64 hexadecimal digits")}
}

// Check is called with the content of a complete file before the file gets its name. If it returns
// an error, the content is removed and the download fails with that error.
func Check(check func(io.Reader) error) Option {
	return Option{option.New(func(o *options) { o.check = check }, "Check", option.Code("f"))}
}

// Client is the client that sends the requests; the default is http.DefaultClient.
func Client(client *http.Client) Option {
	return Option{option.New(func(o *options) { o.client = client }, "Client", option.Code("c"))}
}

// Header adds a field to the requests, for example of an account. Like net/http, it is not sent to
// another host that the server redirects to if it is a credential:
//
//	download.Header("Authorization", "Bearer "+os.Getenv("HF_TOKEN"))
func Header(name, value string) Option {
	return Option{option.New(func(o *options) { o.header.Set(name, value) }, "Header", name, option.Code("…"))}
}

// Stall is the longest time without data, after which a request fails. The default is a minute.
func Stall(longest time.Duration) Option {
	return Option{option.New(func(o *options) { o.stall = longest }, "Stall", longest).Require(longest > 0, "want a positive duration")}
}

// MaxSize is the largest size of the file in bytes; more is [ErrTooLarge].
func MaxSize(bytes int64) Option {
	return Option{option.New(func(o *options) { o.maximum = bytes }, "MaxSize", bytes)}
}

// ofFiles are the options of both functions.
var ofFiles = []string{"Check", "Client", "Header", "Stall", "MaxSize"}

func settings(function string, given []Option, takes ...string) (*options, error) {
	o := &options{client: http.DefaultClient, header: http.Header{}, stall: time.Minute}
	return o, option.Apply("download."+function, o, given, takes...)
}
