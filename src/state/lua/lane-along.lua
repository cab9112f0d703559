--[[ lane-along: the head of a lane takes the events behind it along. With data, they are merged into it: they leave, and
  its job carries that data from now on. Without, all of them are handled: they leave together, and the lane moves on.
  Atomic because: followers that had left while the head's job did not carry them yet would be lost with a process; and
  if a head left before its followers, or they before it, a repeat after a crash would begin with the wrong one.
  KEYS 1 lanes · 2 pending · 3 holders · 4 revived · 5 the head's job, a hash of BullMQ's
  ARGV 1 workspace · 2 lane · 3 id of the head · 4 holder · 5 data or "" · then the ids of the followers, in order
  RETURN "merged" | "left" | "taken-over", id of the event now at the head or ""    Cost O(n log pending). Never calls TIME. ]]
local SEP = '\31'
local AFTER_SEP = '\32'
local PLACE_WIDTH = 35
local workspace, lane, id, holder, data = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]

local function first(count)
  return redis.call('ZRANGEBYLEX', KEYS[1], '[' .. lane .. SEP, '(' .. lane .. AFTER_SEP, 'LIMIT', 0, count)
end

local function idOf(member)
  return member and string.sub(member, #lane + PLACE_WIDTH + 3) or ''
end

local members = first(#ARGV - 4)
-- Those named are where they were seen, or this run knows an older state of the lane than it has.
local stands = redis.call('HGET', KEYS[3], lane) == holder and idOf(members[1]) == id
for i = 6, #ARGV do stands = stands and idOf(members[i - 4]) == ARGV[i] end
if not stands or (data ~= '' and redis.call('EXISTS', KEYS[5]) == 0) then return { 'taken-over', '' } end

for i = data == '' and 1 or 2, #members do
  local place = string.sub(members[i], #lane + 2, #lane + 1 + PLACE_WIDTH)
  redis.call('ZREM', KEYS[1], members[i])
  redis.call('ZREM', KEYS[2], workspace .. SEP .. place)
  redis.call('HDEL', KEYS[4], idOf(members[i]))
end

if data ~= '' then
  redis.call('HSET', KEYS[5], 'data', data)
  return { 'merged', id }
end
redis.call('HDEL', KEYS[3], lane)
return { 'left', idOf(first(1)[1]) }
