-- A stored number; the other one where there is none, or it is none, or too large for an addition.
local function number(stored, otherwise)
  local value = tonumber(stored)
  if value and value > -1e15 and value < 1e15 then return value end
  return otherwise
end
