-- Counts a logged event in its day (src/log/day-counts.ts): one for each of the fields, which stand on lines of their own. "" counts nothing.
local function countEvent(day, fields, keptMs)
  if fields == '' then return end
  for field in string.gmatch(fields, '[^\n]+') do redis.call('HINCRBY', day, field, 1) end
  redis.call('PEXPIRE', day, keptMs)
end
