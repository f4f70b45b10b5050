"""Keeps an inventory."""

import json


class Inventory:
    def __init__(self, path):
        self.path = path
        self.items = {}

    def load(self):
        with open(self.path) as file:
            for name, count in json.load(file).items():
                if count > 0:
                    self.items[name] = count
                else:
                    print("skipped", name)

    def take(self, name, count=1):
        held = self.items.get(name, 0)
        if held < count:
            raise KeyError(f"only {held} of {name}")
        self.items[name] = held - count
        return self.items[name]

    def save(self):
        with open(self.path, "w") as file:
            json.dump(self.items, file)
