// Package frame provides data frames: tables whose columns have names and types.
//
// [CSV], [JSONLines], [Parquet], [Arrow] and [TFRecord] read files, [New] and [FromStructs] make a Frame of
// values in memory. [Frame.WriteCSV], [Frame.WriteParquet] and [Frame.WriteArrow] write files. A Frame is immutable: [Frame.Select], [Frame.Filter], [Frame.Sort],
// [Frame.GroupBy], [Frame.Join] and the other methods return a new one, which shares unchanged
// columns with the old one. So calls can be chained, and any goroutine may use a Frame:
//
//	passengers, err := frame.CSV("titanic.csv")
//	if err != nil { … }
//	passengers.DropMissing("age").GroupBy("class", "sex").Aggregate(frame.Count(), frame.Mean("survived"))
//
// A notebook displays a Frame with the type, the number of missing values and a small histogram
// of each column.
//
// # Missing values
//
// Any value may be missing: an empty field of a CSV file, a null of JSON, or NaN in a column of
// floats. Statistics leave missing values out, sorting puts them last, and a join does not match
// them with anything. They form a group of their own.
//
// # Errors
//
// Functions that read or write files return errors: a [*FileError] names file, line and column.
// Methods of a Frame panic, as indexing a slice does, with a [*ColumnError] if there is no column
// of a name, a [*TypeError] if a column has another type, or a [*MissingError].
package frame
