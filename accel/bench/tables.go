package main

import (
	"bytes"
	"fmt"
	"os"
	"time"

	"github.com/quernlab/quern/accel/frame"
)

// Sizes of the cases of tables.
const (
	csvRows  = 1_000_000
	csvBytes = 72e6 // about as large is the file
)

// writeCSV writes a CSV file with columns of all types and missing values.
func writeCSV(path string) error {
	g := newGenerator()
	cities := []string{"Paris", "Berlin", "London", "New York", "Tokyo", "São Paulo"}
	first := time.Date(2010, 1, 1, 0, 0, 0, 0, time.UTC)
	var b bytes.Buffer
	b.WriteString("id,age,income,score,city,active,date,note\n")
	for i := range csvRows {
		age, income := fmt.Sprint(18+g.IntN(70)), fmt.Sprintf("%.2f", 1e5*g.Float64())
		if g.IntN(20) == 0 {
			age, income = "", "NA"
		}
		fmt.Fprintf(&b, "%d,%s,%s,%v,%s,%t,%s,note %d\n", i, age, income, g.NormFloat64(), cities[g.IntN(len(cities))], i%3 == 0,
			first.AddDate(0, 0, g.IntN(5000)).Format(time.DateOnly), i%1000)
	}
	return os.WriteFile(path+".csv", b.Bytes(), 0o600)
}

// startCSV measures the reading of a CSV file.
func startCSV(path string) (workload, error) {
	var last *frame.Frame
	return workload{
		step: func() (err error) {
			last, err = frame.CSV(path + ".csv")
			return err
		},
		value: func() float64 { // the number of rows plus the sum of a column
			sum := float64(last.Len())
			for _, v := range last.Column("score").Floats() {
				sum += v
			}
			return sum
		},
	}, nil
}
