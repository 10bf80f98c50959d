package main

import (
	"database/sql/driver"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
)

// Values of unexported types of compiled packages.

var order = binary.BigEndian

type header struct {
	body  io.Reader
	order binary.ByteOrder
}

func read(b []byte) (uint32, uint16) {
	return binary.BigEndian.Uint32(b), binary.LittleEndian.Uint16(b[1:])
}

func first[T any](x T, more ...T) T { return x }

func main() {
	b := []byte{1, 2, 3, 4}
	fmt.Println(read(b))
	fmt.Println(binary.BigEndian, binary.LittleEndian.String(), binary.NativeEndian.Uint16([]byte{0, 0}))
	local := binary.LittleEndian
	fmt.Println(local.Uint32(b), order.Uint32(b), local == binary.LittleEndian)
	for i := range 2 {
		order := binary.BigEndian
		buffer := make([]byte, 2)
		order.PutUint16(buffer, uint16(i+258))
		fmt.Println(buffer, binary.LittleEndian.AppendUint16(nil, 3), order)
	}
	put := binary.BigEndian.PutUint32
	put(b, 7)
	fmt.Println(b)
	list := []any{binary.BigEndian, http.NoBody, driver.Bool}
	for _, x := range list {
		fmt.Printf("%T %v\n", x, x)
	}
	body := http.NoBody
	n, err := body.Read(b)
	fmt.Println(n, err, body.Close(), http.NoBody == body)
	v, err := driver.Bool.ConvertValue("true")
	fmt.Println(v, err)
	v, err = driver.DefaultParameterConverter.ConvertValue(int8(3))
	fmt.Println(v, err)
	fmt.Println(first(binary.BigEndian).Uint16(b[2:]), first(http.NoBody) == http.NoBody)
	converter := driver.Int32
	func() {
		fmt.Println(converter.ConvertValue("12"))
		fmt.Println(local.Uint16(b))
	}()
}
