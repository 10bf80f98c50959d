package frame_test

import (
	"fmt"
	"log"
	"strings"

	"github.com/quernlab/quern/accel/frame"
)

func Example() {
	file := "name,class,age,fare\nAllen,1,29,211.34\nBrown,2,,13\nClark,1,51,30.5\nDavis,3,8,7.9\n"
	passengers, err := frame.ReadCSV(strings.NewReader(file)) // of a file: frame.CSV("titanic.csv")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(passengers)
	fmt.Println(passengers.GroupBy("class").Aggregate(frame.Count(), frame.Mean("fare").As("fare")))
	adults := passengers.Filter(func(r frame.Row) bool { return r.Float("age") >= 18 })
	fmt.Println(adults.Sort(frame.Descending("age")).Column("name").Texts())
	// Output:
	//    name   class  age             fare
	//    text   int    int, 1 missing  float
	// 0  Allen  1      29              211.34
	// 1  Brown  2                      13
	// 2  Clark  1      51              30.5
	// 3  Davis  3      8               7.9
	// 4 rows × 4 columns
	//    class  count  fare
	//    int    int    float
	// 0  1      2      120.92
	// 1  2      1      13
	// 2  3      1      7.9
	// 3 rows × 3 columns
	// [Clark Allen]
}

func ExampleFrame_Join() {
	people := frame.New(frame.Texts("name", "Ada", "Bo"), frame.Texts("city", "Paris", "Lima"))
	cities := frame.New(frame.Texts("city", "Paris"), frame.Texts("country", "France"))
	fmt.Println(people.Join(frame.Left, cities, "city"))
	// Output:
	//    name  city   country
	//    text  text   text, 1 missing
	// 0  Ada   Paris  France
	// 1  Bo    Lima
	// 2 rows × 3 columns
}

func ExampleFrame_Structs() {
	var people []struct {
		Name string `frame:"name"`
		Age  *int   `frame:"age"` // nil if it is missing
	}
	f, err := frame.ReadCSV(strings.NewReader("name,age\nAda,36\nBo,\n"))
	if err == nil {
		err = f.Structs(&people)
	}
	fmt.Println(people[0].Name, *people[0].Age, people[1].Age == nil, err)
	// Output: Ada 36 true <nil>
}
