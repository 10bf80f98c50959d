package main

import (
	"encoding/xml"
	"fmt"
	"strings"
	"time"
)

type Book struct {
	XMLName xml.Name `xml:"book"`
	ID      int      `xml:"id,attr"`
	Title   string   `xml:"head>title"`
	Authors []Author `xml:"author"`
	Printed time.Time
	private int
}

type Author struct {
	Name string `xml:"name"`
	Age  Years  `xml:"age,omitempty"`
}

type Years int

func main() {
	b := Book{ID: 3, Title: "Go", Authors: []Author{{"A", 40}, {"B", 0}}, private: 1}
	data, err := xml.MarshalIndent(b, "", " ")
	fmt.Println(string(data), err)
	var back Book
	fmt.Println(xml.Unmarshal(data, &back), back.Authors, back.ID, back.XMLName.Local)
	var author Author
	fmt.Println(xml.Unmarshal([]byte("<x><name>C</name><age>4</age></x>"), &author), author)
	var out strings.Builder
	e := xml.NewEncoder(&out)
	var x any = author
	fmt.Println(e.EncodeElement(x, xml.StartElement{Name: xml.Name{Local: "who"}}))
	fmt.Println(e.Encode(3), out.String())
}
