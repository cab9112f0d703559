--[[ promote-pages: makes some pages of a complete sweep those of the last complete sweep: their members, and how to recognise them.
  Atomic because: a page in neither hash would lose its members, and with them their removals. A repetition after a crash finds
  the fields gone from the walk and skips them.
  KEYS 1 walk · 2 members · 3 lease    ARGV 1 token · 2 n · n × field to move (skipped where it is not) · further fields to delete
  RETURN {"committed", fields moved} · {"fenced", holder or ""}    Cost O(fields named). ]]
local holder = redis.call('GET', KEYS[3])
if holder ~= ARGV[1] then return { 'fenced', holder or '' } end

local promoted = 0
local last = 2 + tonumber(ARGV[2])
for i = 3, last do
  local value = redis.call('HGET', KEYS[1], ARGV[i])
  if value then
    redis.call('HSET', KEYS[2], ARGV[i], value)
    redis.call('HDEL', KEYS[1], ARGV[i])
    promoted = promoted + 1
  end
end
for i = last + 1, #ARGV do redis.call('HDEL', KEYS[2], ARGV[i]) end
return { 'committed', promoted }
