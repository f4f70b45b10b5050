import { rates } from "./rates.js";

export function total(cart, country) {
  let sum = 0;
  for (const line of cart.lines) {
    if (line.gift) {
      continue;
    }
    sum += line.price * line.count;
  }
  const rate = rates[country] ?? rates.default;
  return Math.round(sum * (1 + rate));
}

export function describe(cart) {
  if (cart.lines.length === 0) {
    return "An empty cart";
  }
  const names = cart.lines.map((line) => {
    return `${line.count} × ${line.name}`;
  });
  return names.join(", ");
}
