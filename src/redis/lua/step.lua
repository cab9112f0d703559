-- The number of a step of a list, `<number> <id>`: each step that is committed has the next one. 0: there is none.
local function numberOf(step) return tonumber(string.match(step, '^(%d+) ')) or 0 end
