package rt

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"io"
	"log/slog"
	"reflect"
	"sort"
	"strconv"
	"time"
)

// testPackages is a table of compiled symbols like yaegi's.
var testPackages = map[string]map[string]reflect.Value{
	"fmt/fmt": {
		"State":      reflect.ValueOf((*fmt.State)(nil)),
		"Stringer":   reflect.ValueOf((*fmt.Stringer)(nil)),
		"GoStringer": reflect.ValueOf((*fmt.GoStringer)(nil)),
	},
	"io/io": {
		"Reader":   reflect.ValueOf((*io.Reader)(nil)),
		"Writer":   reflect.ValueOf((*io.Writer)(nil)),
		"WriterTo": reflect.ValueOf((*io.WriterTo)(nil)),
	},
	"bytes/bytes":        {"Buffer": reflect.ValueOf((*bytes.Buffer)(nil))},
	"encoding/json/json": {"Number": reflect.ValueOf((*json.Number)(nil)), "RawMessage": reflect.ValueOf((*json.RawMessage)(nil))},
	"image/color/color":  {"Color": reflect.ValueOf((*color.Color)(nil)), "Model": reflect.ValueOf((*color.Model)(nil))},
	"image/image":        {"Rectangle": reflect.ValueOf((*image.Rectangle)(nil))},
	"log/slog/slog":      {"Value": reflect.ValueOf((*slog.Value)(nil))},
	"strconv/strconv":    {"NumError": reflect.ValueOf((*strconv.NumError)(nil))},
	"time/time":          {"Time": reflect.ValueOf((*time.Time)(nil)), "Duration": reflect.ValueOf((*time.Duration)(nil)), "Location": reflect.ValueOf((*time.Location)(nil))},
	"sort/sort":          {"Interface": reflect.ValueOf((*sort.Interface)(nil))},
}
