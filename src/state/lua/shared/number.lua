-- A stored number; the other one where there is none, or what is stored is damaged: no number, or one so large that nothing can be added to it.
local function number(stored, otherwise)
  local value = tonumber(stored)
  if value and value > -1e15 and value < 1e15 then return value end
  return otherwise
end
