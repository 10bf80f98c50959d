package tableview

import (
	"math/big"
	"strconv"
	"time"
)

// FloatKey returns the key of a number that is shown as text, which may have fewer digits.
func FloatKey(v float64, text string) string {
	if shown, err := strconv.ParseFloat(text, 64); err == nil && shown == v {
		return text
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// TimeKey returns the key of a point in time.
func TimeKey(v time.Time) string {
	at := new(big.Int).Mul(big.NewInt(v.Unix()), big.NewInt(int64(time.Second)))
	return at.Add(at, big.NewInt(int64(v.Nanosecond()))).String()
}
