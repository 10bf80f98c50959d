package preprocess

import "github.com/quernlab/quern/accel/frame"

// Columns are columns of a data frame that are prepared in the same way: [Numbers], [Categories]
// or [Dates].
type Columns interface {
	// fit learns from training rows.
	fit(train *frame.Frame) ([]encoder, error)
}

// encoder makes features of a column.
type encoder interface {
	// features returns the names of the features.
	features() []string
	// encode writes the features of each row, from the index at on.
	encode(f *frame.Frame, rows [][]float32, at int) error
	// column returns the name of the column.
	column() string
}

// automatic chooses columns by their types: numbers and bools as Numbers, with missing values replaced by
// the median, text as Categories, and times as Dates.
func automatic(train *frame.Frame) []Columns {
	var chosen []Columns
	for _, name := range train.Columns() {
		switch train.Column(name).Type() {
		case frame.Text:
			chosen = append(chosen, Categories(name).Other())
		case frame.Time:
			chosen = append(chosen, Dates(name))
		default:
			chosen = append(chosen, Numbers(name).Impute(Median))
		}
	}
	return chosen
}
