import json
def main():
    users = [{"name": f"user{i}", "age": i % 90, "tags": ["a", "b"], "extra": {"k": "v"}} for i in range(20000)]
    data = json.dumps(users, separators=(",", ":"))
    back = json.loads(data)
    print(len(data), back[19999]["name"])
main()
