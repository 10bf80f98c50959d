package data_test

import (
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/data"
)

// TestMismatchErrorNamesTheRemedy requires that the error about names says how to set names of that kind.
func TestMismatchErrorNamesTheRemedy(t *testing.T) {
	read := func(text string, targets ...string) *data.Dataset {
		t.Helper()
		set, err := data.ReadCSV(strings.NewReader(text), "kind")
		if len(targets) > 0 {
			set, err = data.ReadCSVTargets(strings.NewReader(text), targets...)
		}
		if err != nil {
			t.Fatal(err)
		}
		return set
	}
	flowers, houses := read("long,wide,kind\n1,0,a\n0,1,b\n"), read("size,price,rent\n1,0,2\n0,1,3\n", "price", "rent")
	for _, row := range []struct {
		trained, set *data.Dataset
		want         string
	}{
		{flowers, read("wide,long,kind\n1,0,a\n0,1,b\n"), `column 0 is "wide" in examples, but "long" in examples, the training set: reorder the data set with Like(training set), or name its columns with WithColumns`},
		{flowers, read("long,wide,kind\n1,0,a\n0,1,c\n"), `class 1 is "c" in examples, but "b" in examples, the training set: reorder the data set with Like(training set), or name its classes with WithClasses`},
		{houses, read("size,price,rent\n1,0,2\n0,1,3\n", "rent", "price"), `target 0 is "rent" in examples, but "price" in examples, the training set: reorder the data set with Like(training set), or name its targets with WithTargets`},
	} {
		if err := row.trained.Schema().Check(row.set); err == nil || err.Error() != "data: "+row.want {
			t.Errorf("got  %v\nwant data: %s", err, row.want)
		}
		_, err := data.Concat(row.trained, row.set)
		want := strings.Replace(strings.Replace(row.want, ", the training set: ", ": ", 1), "the data set with Like(training set)", "one data set with Like of the other", 1)
		if err == nil || err.Error() != "data: Concat: "+want {
			t.Errorf("got  %v\nwant data: Concat: %s", err, want)
		}
	}
}
