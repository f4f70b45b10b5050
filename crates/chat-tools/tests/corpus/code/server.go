package main

import (
	"fmt"
	"net/http"
)

func handler(limit int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength > int64(limit) {
			http.Error(w, "too large", http.StatusRequestEntityTooLarge)
			return
		}
		for name, values := range r.Header {
			fmt.Fprintf(w, "%s: %d\n", name, len(values))
		}
	}
}

func main() {
	http.HandleFunc("/", handler(1024))
	if err := http.ListenAndServe(":8080", nil); err != nil {
		fmt.Println("cannot listen:", err)
	}
}
