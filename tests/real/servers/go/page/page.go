// Package page makes the page that all servers here answer.
package page

import (
	"encoding/json"
	"strconv"
)

type item struct {
	ID   int    `json:"id"`
	Name string `json:"name"`
}

// Page is made anew for each request.
func Page() []byte {
	items := make([]item, 20)
	for id := range items {
		items[id] = item{id, "n" + strconv.Itoa(id)}
	}
	body, _ := json.Marshal(map[string][]item{"items": items})
	return body
}
